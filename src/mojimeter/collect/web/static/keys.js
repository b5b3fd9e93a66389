// Rating by keys, which a person can switch off for good (WCAG 2.1.4).
const SWITCH = "mojimeter:keys";

// map: {"1": value, ...}; does: {choose(value), save(), back()}
export function listenToKeys(map, does) {
  const [use, help, button] = ["use-keys", "help", "help-button"].map((id) => document.getElementById(id));
  try { use.checked = localStorage.getItem(SWITCH) !== "off"; } catch { /* on, then */ }
  use.addEventListener("change", () => {
    try { localStorage.setItem(SWITCH, use.checked ? "on" : "off"); } catch { /* for this page only */ }
  });
  button.addEventListener("click", () => help.showModal());
  button.hidden = false;
  document.addEventListener("keydown", (event) => {
    if (!use.checked || help.open || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("textarea");
    const name = named(event);
    let act;
    if (name === "enter") act = !event.target.closest("button, a") && !(typing && event.shiftKey) && does.save;
    else if (typing) return;
    else if (name === "backspace") act = does.back;
    else if (name === "?") act = () => help.showModal();
    else if (name in map) act = () => does.choose(map[name]);
    if (!act) return;
    event.preventDefault();
    if (!event.repeat) act(); // a key held down acts once
  });
}

// digits by their place, so that every layout has them; letters by what they write, or their place where that is not Latin
function named({ key, code, shiftKey }) {
  const digit = /^(?:Digit|Numpad)(\d)$/.exec(code);
  if (digit && !(shiftKey && /^[!-/:-~]$/.test(key))) return digit[1];
  return (/^[\x21-\x7e]+$/.test(key) ? key : code.replace("Key", "")).toLowerCase();
}
