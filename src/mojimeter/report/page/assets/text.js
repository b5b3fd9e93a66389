// Text of posts, replies and names: emoji are wrapped so that the emoji font is used for them alone, controls that
// could turn or break the page are written out, halves of surrogate pairs become U+FFFD.

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;
const CONTROL_NAMES = {
  "\u202a": "left-to-right embedding",
  "\u202b": "right-to-left embedding",
  "\u202c": "pop formatting",
  "\u202d": "left-to-right override",
  "\u202e": "right-to-left override",
  "\u2066": "left-to-right isolate",
  "\u2067": "right-to-left isolate",
  "\u2068": "first strong isolate",
  "\u2069": "pop isolate",
};
const HALVES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** The emoji of the document: names by string, and candidates by first code point, the longest first. */
const emojiTable = { strings: [], names: [], groups: [], use: [], index: new Map(), byStart: new Map() };

function learnEmoji(emoji) {
  emojiTable.strings = emoji.strings;
  emojiTable.names = emoji.name || [];
  emojiTable.groups = emoji.group || [];
  emojiTable.use = emoji.use || [];
  emoji.strings.forEach((string, index) => {
    emojiTable.index.set(string, index);
    const start = string.codePointAt(0);
    if (!emojiTable.byStart.has(start)) emojiTable.byStart.set(start, []);
    emojiTable.byStart.get(start).push(string);
  });
  for (const list of emojiTable.byStart.values()) list.sort((a, b) => b.length - a.length);
}

/** The text cut into [is emoji, string] pieces, by the longest string of the document's emoji at each place. */
function pieces(text) {
  const out = [];
  let plain = 0;
  let at = 0;
  while (at < text.length) {
    const point = text.codePointAt(at);
    const found = emojiTable.byStart.get(point)?.find((string) => text.startsWith(string, at));
    if (!found) {
      at += point > 0xffff ? 2 : 1;
      continue;
    }
    if (plain < at) out.push([false, text.slice(plain, at)]);
    out.push([true, found]);
    at += found.length;
    plain = at;
  }
  if (plain < text.length) out.push([false, text.slice(plain)]);
  return out;
}

/** One emoji, named for readers. */
function glyph(string) {
  const name = emojiTable.names[emojiTable.index.get(string)] || "emoji";
  return el("span", { class: "e", role: "img", "aria-label": name, title: name }, string);
}

/** Glyphs of a list of indices into the document's emoji. */
function glyphs(indices) {
  return indices.map((index) => glyph(emojiTable.strings[index]));
}

/** Words without emoji: halves replaced, controls written out as marks. */
function words(text) {
  const whole = text.replace(HALVES, "\ufffd");
  const out = [];
  let from = 0;
  for (const match of whole.matchAll(CONTROLS)) {
    if (match.index > from) out.push(whole.slice(from, match.index));
    const code = `U+${match[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    out.push(el("span", { class: "control", title: CONTROL_NAMES[match[0]] || "control character" }, code));
    from = match.index + 1;
  }
  if (from < whole.length) out.push(whole.slice(from));
  return out;
}

/** Untrusted text as nodes: emoji wrapped, the rest as words. */
function marked(text) {
  return pieces(String(text)).map(([isEmoji, string]) => (isEmoji ? glyph(string) : words(string)));
}

/** A block of untrusted text in its own language and direction, apart from what stands around it. */
function quoted(text, lang, tag = "span", name = "quoted") {
  return el(tag, { class: name, dir: "auto", lang: languageTag(lang) }, marked(text));
}

/** A name (system, judge, rater) as text that cannot turn its surroundings round. */
function named(name) {
  return el("bdi", {}, marked(name));
}

/** The same, which may also be broken after a slash, colon, dash or underscore: names of models are long. */
function breakable(name) {
  return el(
    "bdi",
    {},
    String(name)
      .split(/(?<=[/:_-])/)
      .map((part) => [marked(part), el("wbr")]),
  );
}

/** A language tag for the lang attribute, where the data's looks like one. */
function languageTag(lang) {
  return typeof lang === "string" && /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(lang) ? lang : null;
}

/** Text for titles, charts and addresses, where no elements can be: controls written out, halves replaced. */
function flat(text) {
  return String(text)
    .replace(HALVES, "\ufffd")
    .replace(CONTROLS, (c) => `[U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

const languageNames =
  typeof Intl.DisplayNames === "function" ? new Intl.DisplayNames(["en"], { type: "language" }) : null;

/** "Hindi (hi)" for hi; the data's own word where it is no language tag. */
function languageName(lang) {
  const tag = languageTag(lang);
  if (!tag || !languageNames) return flat(lang);
  const name = languageNames.of(tag);
  return name === tag ? tag : `${name} (${tag})`;
}
