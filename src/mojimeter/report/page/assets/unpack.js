// The charts' libraries: unpacked and run once a chart is wanted, as one inline script whose hash the content security
// policy holds.

let librariesLoading = null;

function loadLibraries() {
  librariesLoading ??= unpack("libraries").then((source) => {
    runScript(source);
    if (!window.vega || !window.vegaLite || !window.vegaInterpreter)
      throw new Error("the libraries for charts did not start");
  });
  return librariesLoading;
}
