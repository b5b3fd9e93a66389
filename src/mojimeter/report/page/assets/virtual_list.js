// A list of any length of which only the rows in view are in the page. Rows are of one height. Arrow keys move the
// active row, Enter opens it; readers get its place in the whole list.

const ROW_HEIGHT = 58;
const SPARE_ROWS = 8; // above and below the view, so that scrolling shows no gaps

class VirtualList {
  /** label: what the list is; row(index): content of a row; open(index): a row was chosen. */
  constructor({ label, row, open }) {
    this.row = row;
    this.open = open;
    this.order = [];
    this.active = 0; // a place in the order
    this.chosen = null; // an index
    this.serial = ++VirtualList.count;
    this.space = el("div", { role: "presentation", class: "space" });
    this.node = el(
      "div",
      {
        class: "list",
        role: "listbox",
        tabindex: "0",
        "aria-label": label,
        data: { key: `list-${this.serial}` },
        on: {
          scroll: () => this.paintSoon(),
          keydown: (event) => this.key(event),
          click: (event) => this.click(event),
        },
      },
      this.space,
    );
    this.rows = new Map(); // place -> node
    new ResizeObserver(() => this.paint()).observe(this.node);
  }

  /** Shows these indices, from the top unless the list stays. */
  show(order, { stay = false } = {}) {
    this.order = order;
    for (const row of this.rows.values()) row.remove();
    this.rows.clear();
    this.space.style.height = `${order.length * ROW_HEIGHT}px`;
    if (!stay) {
      this.node.scrollTop = 0;
      this.active = 0;
    }
    this.active = Math.max(0, Math.min(this.active, order.length - 1));
    this.paint();
  }

  /** Marks the row of an index as the one that is open. */
  choose(index, { reveal = false } = {}) {
    this.chosen = index;
    const place = index === null ? -1 : this.order.indexOf(index);
    if (place >= 0) {
      this.active = place;
      if (reveal) this.reveal(place);
    }
    this.show(this.order, { stay: true });
  }

  paintSoon() {
    this.painting ??= requestAnimationFrame(() => {
      this.painting = null;
      this.paint();
    });
  }

  paint() {
    const height = this.node.clientHeight || 400;
    const first = Math.max(0, Math.floor(this.node.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.min(this.order.length - 1, Math.ceil((this.node.scrollTop + height) / ROW_HEIGHT) + SPARE_ROWS);
    const isWanted = (place) => (place >= first && place <= last) || place === this.active;
    for (const [place, row] of this.rows) {
      if (isWanted(place)) continue;
      row.remove();
      this.rows.delete(place);
    }
    for (let place = first; place <= last; place++) this.ensure(place);
    if (this.order.length) this.ensure(this.active);
    this.markActive();
  }

  ensure(place) {
    if (this.rows.has(place)) return;
    const index = this.order[place];
    const row = el(
      "div",
      {
        class: "row",
        role: "option",
        id: `row-${this.serial}-${place}`,
        "aria-selected": String(index === this.chosen),
        "aria-posinset": place + 1,
        "aria-setsize": this.order.length,
        data: { place },
      },
      this.row(index),
    );
    row.style.transform = `translateY(${place * ROW_HEIGHT}px)`;
    this.rows.set(place, row);
    this.space.append(row);
  }

  markActive() {
    for (const [place, row] of this.rows) row.classList.toggle("active", place === this.active);
    if (this.order.length) this.node.setAttribute("aria-activedescendant", `row-${this.serial}-${this.active}`);
    else this.node.removeAttribute("aria-activedescendant");
  }

  reveal(place) {
    const top = place * ROW_HEIGHT;
    const height = this.node.clientHeight;
    if (top < this.node.scrollTop) this.node.scrollTop = top;
    else if (top + ROW_HEIGHT > this.node.scrollTop + height) this.node.scrollTop = top + ROW_HEIGHT - height;
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.node.clientHeight / ROW_HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps && this.order.length) {
      this.active = Math.max(0, Math.min(this.order.length - 1, this.active + steps[event.key]));
      this.reveal(this.active);
      this.paint();
    } else if ((event.key === "Enter" || event.key === " ") && this.order.length) this.open(this.order[this.active]);
    else return;
    event.preventDefault();
  }

  click(event) {
    const row = event.target.closest("[data-place]");
    if (!row) return;
    this.active = Number(row.dataset.place);
    this.open(this.order[this.active]);
  }
}
VirtualList.count = 0;
