// Rating by keys, which a person can switch off for good (WCAG 2.1.4).
const SWITCH = "mojimeter:keys";

function read() { try { return localStorage.getItem(SWITCH) !== "off"; } catch { return true; } }

// map: {"1": value, ...}; does: {choose(value), save(), back(), help}
export function listenToKeys(map, does) {
  let on = read();
  const box = document.getElementById("use-keys");
  const help = document.getElementById("help");
  const button = document.getElementById("help-button");
  box.checked = on;
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
  box.addEventListener("change", () => {
    on = box.checked;
    try { localStorage.setItem(SWITCH, on ? "on" : "off"); } catch { /* for this page only */ }
  });
  document.addEventListener("keydown", (event) => {
    if (!on || help.open || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("textarea");
    let act;
    if (event.key === "Enter") {
      if (event.target.closest("button, a") || (typing && event.shiftKey)) return;
      act = does.save;
    } else if (typing) return;
    else if (event.key === "Backspace") act = does.back;
    else if (event.key === "?") act = () => help.showModal();
    else if (named(event) in map) act = () => does.choose(map[named(event)]);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act(); // a key held down acts once
  });
}

// digits by their place on the keyboard, so that every layout has them; letters by what they write where they are Latin
function named(event) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  if (digit && !(event.shiftKey && /^[!-/:-~]$/.test(event.key))) return digit[1];
  const key = event.key.toLowerCase();
  return /^[\x21-\x7e]$/.test(key) ? key : event.code.replace(/^Key/, "").toLowerCase();
}
