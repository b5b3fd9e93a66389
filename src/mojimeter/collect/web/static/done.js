// The last page: a correction that still waits on this device is sent from here too, and said to be saved or not.
import { openOutbox } from "./outbox.js";

const { csrf, box, words } = document.body.dataset;
const say = JSON.parse(words);
const line = document.getElementById("state");
let any = false;

openOutbox(box, csrf, ({ waiting, refused, problem }) => {
  any ||= waiting > 0;
  if (!any) return;
  const word = refused ? "state_refused" : problem ? `state_${problem}` : waiting ? "state_saving" : "state_saved";
  line.dataset.state = word === "state_saved" ? "saved" : word === "state_saving" ? "saving" : "unsaved";
  line.textContent = say[word].replace("{n}", refused || waiting);
}).drain();
