// The one script that the file holds as text: expands the others and runs them. In the syntax of old browsers, so that
// one which cannot go on says so and shows the plain tables.

function unpack(id) {
  var bytes = Uint8Array.from(atob(document.getElementById(id).textContent), function (letter) {
    return letter.charCodeAt(0);
  });
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

function runScript(source) {
  var script = document.createElement("script");
  script.textContent = source;
  document.head.appendChild(script);
  script.remove();
}

function showPlainTables(error) {
  document.documentElement.className = "plain";
  var trouble = document.getElementById("trouble");
  trouble.hidden = false;
  trouble.textContent =
    "This browser could not show the whole report (" + error.message + "); these are its main tables.";
}

try {
  unpack("script")
    .then(function (source) {
      runScript(source);
      if (!window.startReport) throw new Error("its scripts did not start");
      return window.startReport();
    })
    .catch(showPlainTables);
} catch (error) {
  showPlainTables(error);
}
