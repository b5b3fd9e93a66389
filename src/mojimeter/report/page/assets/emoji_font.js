// The emoji font that the file carries. Browsers without its format (COLRv1) skip it, as Safari does; some take it for
// one of theirs and draw nothing (WebKit on Linux, its bug 256310): that is seen by drawing.

const TRIED_EMOJI = 4; // one that is not drawn will do; several, as some may not be in the font

/** Whether the browser took the font and draws these emoji as nothing at all. */
async function drawsNothing(emoji) {
  const tried = emoji.slice(0, TRIED_EMOJI);
  const pen = el("canvas", { width: 48, height: 48 }).getContext("2d", { willReadFrequently: true });
  if (!tried.length || !pen) return false;
  pen.font = '32px "mojimeter emoji"';
  try {
    if (!(await document.fonts.load(pen.font, tried.join(""))).length) return false;
    return tried.some((string) => isBlank(pen, string));
  } catch {
    return false; // a browser that does not let us look
  }
}

function isBlank(pen, string) {
  pen.clearRect(0, 0, 48, 48);
  pen.fillText(string, 4, 36);
  return pen.getImageData(0, 0, 48, 48).data.every((value) => value === 0);
}

/** Emoji by the computer's own font from here on, and a sentence that says so. */
function takeSystemEmoji(app) {
  document.documentElement.dataset.emoji = "system";
  redrawCharts();
  const said =
    "This browser cannot draw the report's emoji font; emoji are drawn by this computer's own, if it has one.";
  app.prepend(el("p", { class: "alert" }, said));
}
