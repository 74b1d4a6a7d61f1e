/** The page for the projector: one question, how many have answered, and what is shown of it. */
import "./teacher.css";
import { made } from "../kit/made";
import { barsOf, countOf, placeOf } from "./bars";
import { listenTo, type ForProjector } from "./messages";
import { written } from "./numbers";
import { showWhere } from "./where";

const AGAIN = 1500; // milliseconds
const LONG = 60; // letters of a question: more than two lines

const main = document.querySelector("main")!;
const who = document.querySelector("#who")!;

function draw({ question, here, isOver }: ForProjector) {
  who.textContent = isOver ? "The class is over." : `${here} here`;
  document.body.classList.toggle("is-over", isOver);
  document.body.classList.toggle("has-question", question !== null);
  if (!question) {
    main.replaceChildren(
      made("h1", "", "Join the class"),
      made("p", "", "Point a camera at the code, or type the address below it."),
      made("p", "", "Then press Begin."),
    );
    return;
  }
  const parts: HTMLElement[] = [
    made("p", "place", placeOf(question)),
    made("h1", question.question.length > LONG ? "long" : "", question.question),
  ];
  if (question.choices.length && !question.bars.length) {
    const list = made("ul", "choices");
    for (const choice of question.choices) list.append(made("li", "", choice));
    parts.push(list);
  }
  parts.push(made("p", "total", countOf(question)));
  if (question.answer !== undefined) {
    parts.push(made("p", "answer", `It is ${written(question.answer)}.`));
  }
  if (question.bars.length) parts.push(barsOf(question));
  main.replaceChildren(...parts);
}

function listen() {
  listenTo("/projector/socket", {
    said: (text) => draw(JSON.parse(text)),
    gone: () => {
      const isOver = document.body.classList.contains("is-over");
      who.textContent = isOver ? "The class has ended." : "The class does not answer.";
      setTimeout(listen, AGAIN);
    },
  });
}

showWhere(document.querySelector("#where")!);
listen();
