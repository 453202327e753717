// Shows the steps of a run as they come; without this script the page shows them when it is loaded again.
"use strict";

document.addEventListener("DOMContentLoaded", () => {
  const job = document.getElementById("job");
  if (!job || job.dataset.running !== "yes") return;
  const lines = document.getElementById("lines");
  const events = new EventSource("events");
  lines.replaceChildren();

  function span(text) {
    const made = document.createElement("span");
    made.className = "soft";
    made.textContent = text;
    return made;
  }

  events.onmessage = (event) => {
    const number = Number(event.lastEventId);
    const { stage, text, done, total } = JSON.parse(event.data);
    const line = lines.children[number] || lines.appendChild(document.createElement("li"));
    line.dataset.stage = stage;
    line.replaceChildren(...(stage === "end" ? [text] : [span(stage), " " + text]));
    if (total) line.append(" ", span(done + "/" + total));
  };
  events.addEventListener("end", () => {
    events.close();
    // The rest of the page tells what came of it, so it is loaded again; the lines stay.
    location.reload();
  });
});
