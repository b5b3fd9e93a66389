// The study's emoji font. Browsers without its format (COLRv1) skip it, as Safari does; some take it for one of theirs
// and draw nothing (WebKit on Linux, its bug 256310): that is seen by drawing, and the computer's own font is taken.
export const sample = document.getElementById("font").dataset.emoji.split(" ");
const SIDE = 72;
const pen = Object.assign(document.createElement("canvas"), { width: SIDE, height: SIDE }).getContext("2d", { willReadFrequently: true });

// the pixels of a text in a font: red, green, blue, opacity
export function draw(text, family) {
  pen.clearRect(0, 0, SIDE, SIDE);
  pen.font = `48px ${family}`;
  pen.fillText(text, 4, 56);
  return pen.getImageData(0, 0, SIDE, SIDE).data;
}

async function choose() {
  const bundled = '"mojimeter emoji"';
  if (!(await document.fonts.load(`48px ${bundled}`, sample.join(""))).length) return "system";
  if (!sample.some((emoji) => draw(emoji, bundled).every((value) => !value))) return "bundled";
  return (document.documentElement.dataset.font = "system");
}

// "bundled" or "system"; fails where the browser does not let us look
export const chosen = choose();
chosen.catch(() => {});
