// Draws the three emoji of the start page and looks whether they came out in colour, and not as boxes.
const line = document.getElementById("check");
const form = document.querySelector("form");
const say = JSON.parse(line.dataset.words);
const FONT = '48px "mojimeter emoji", "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji", sans-serif';

function draw(text) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 72;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  pen.font = FONT;
  pen.textBaseline = "middle";
  pen.fillText(text, 4, 38);
  return pen.getImageData(0, 0, 72, 72).data;
}

function coloured(pixels) {
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const [r, g, b, a] = pixels.subarray(i, i + 4);
    if (a > 128 && Math.max(r, g, b) - Math.min(r, g, b) > 60) count++;
  }
  return count > 100;
}

async function look() {
  const result = {
    viewport: innerWidth < 600 ? "phone" : innerWidth < 1024 ? "tablet" : "desktop",
    dark: matchMedia("(prefers-color-scheme: dark)").matches,
    touch: matchMedia("(pointer: coarse)").matches,
  };
  let word = "unknown";
  try {
    const loaded = await Promise.race([
      document.fonts.load(FONT, line.dataset.emoji),
      new Promise((done) => setTimeout(() => done([]), 3000)),
    ]);
    const drawn = line.dataset.emoji.split(" ").map(draw);
    const box = draw("\u{10FFFF}").join(); // nobody has a picture of this one
    result.font = loaded.some((face) => face.family.includes("mojimeter")) ? "bundled" : "system";
    result.colour = drawn.every(coloured);
    result.boxes = drawn.some((pixels) => pixels.join() === box);
    word = result.boxes ? "boxes" : result.colour ? "colour" : "plain";
  } catch { /* the browser does not let us look */ }
  line.textContent = say[`check_${word}`];
  form.elements.check.value = JSON.stringify(result);
}

const looked = look();
form.addEventListener("submit", (event) => {
  if (form.elements.check.value) return;
  event.preventDefault();
  looked.then(() => form.submit());
});
