// Draws the emoji of the start page and looks whether they came out in colour, and not as boxes.
const line = document.getElementById("check");
const form = document.querySelector("form");
const say = JSON.parse(line.dataset.words);
const emoji = line.dataset.emoji.split(" ");
const pen = Object.assign(document.createElement("canvas"), { width: 72, height: 72 }).getContext("2d", { willReadFrequently: true });
pen.font = `48px ${getComputedStyle(document.querySelector(".e")).fontFamily}`;

function draw(text) {
  pen.clearRect(0, 0, 72, 72);
  pen.fillText(text, 4, 56);
  return pen.getImageData(0, 0, 72, 72).data;
}

function coloured(pixels) {
  let count = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    const rgb = pixels.subarray(i, i + 3);
    if (pixels[i + 3] > 128 && Math.max(...rgb) - Math.min(...rgb) > 60) count++;
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
    const late = new Promise((done) => setTimeout(done, 3000, []));
    const faces = await Promise.race([document.fonts.load(pen.font, emoji.join("")), late]);
    const drawn = emoji.map(draw);
    const box = draw("\u{10FFFF}").join(); // nobody has a picture of this one
    result.font = faces.length ? "bundled" : "system";
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
