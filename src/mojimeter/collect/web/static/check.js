// Draws the emoji of the start page and looks whether they came out in colour, and not as boxes.
import { chosen, draw, sample } from "./font.js";

const line = document.getElementById("check");
const form = document.querySelector("form");
const say = JSON.parse(line.dataset.words);

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
    const late = new Promise((done) => setTimeout(done, 3000, "system"));
    result.font = await Promise.race([chosen, late]);
    const family = getComputedStyle(document.querySelector(".e")).fontFamily;
    const drawn = sample.map((emoji) => draw(emoji, family));
    const box = draw("\u{10FFFF}", family).join(); // nobody has a picture of this one
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
