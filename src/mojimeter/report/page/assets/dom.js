// Making elements. Data enters the page as text nodes and attribute values only, so that nothing in a post or a reply
// can become an element.

/**
 * An element with properties and children. `on` holds listeners, `data` data attributes, a value of null or false
 * leaves an attribute out. Children that are strings become text nodes, null is skipped.
 */
function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

/** The same for SVG. */
function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), properties, children);
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (name === "data") Object.assign(node.dataset, value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  append(node, children);
  return node;
}

function append(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/** Puts new content in the place of old and gives the focus back to the control that had it (by its data-key). */
function replaceContent(node, ...children) {
  const key = node.contains(document.activeElement) ? document.activeElement.dataset.key : null;
  const scrolled = [...node.querySelectorAll("[data-scroll]")].map((part) => [part.dataset.scroll, part.scrollLeft]);
  const fresh = document.createDocumentFragment();
  append(fresh, children);
  node.replaceChildren(fresh);
  for (const [name, left] of scrolled) {
    const part = node.querySelector(`[data-scroll="${CSS.escape(name)}"]`);
    if (part) part.scrollLeft = left;
  }
  if (key) node.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** Text for screen readers only. */
function hiddenText(text) {
  return el("span", { class: "hidden" }, text);
}
