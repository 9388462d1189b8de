// The question on the left: context, options and the gold answer.
import { asksApart } from "../../lib/case-text";
import type { Store } from "./store";

/** Whether the text itself begins with the title, as it does where a question was given no title of its own. */
const opensWith = (sections: [string, string][], title: string) => sections.some(([, text]) => text.startsWith(title.replace(/…$/, "")));

export function Question({ store }: { store: Store }) {
  const question = store.question.value;
  return (
    <>
      <div class="pane-head">
        <h2>Question</h2>
      </div>
      {question && (
        <div class="case">
          {!opensWith(question.sections, question.title) && <h3>{question.title}</h3>}
          {question.sections.map(([heading, text], k) => (
            <div class="case-part" key={k}>
              {heading && heading !== "Context" && <h3>{heading}</h3>}
              <p class="chain-text">{text}</p>
            </div>
          ))}
          {asksApart(question.sections, question.question) && <p class="chain-text">{question.question}</p>}
          {question.options.length > 0 && (
            <>
              <h3>Options</h3>
              <dl class="chain-options">
                {question.options.map(([letter, text]) => (
                  <div key={letter} class={isGold(letter, question.gold) ? "is-gold" : ""}>
                    <dt>{letter}</dt>
                    <dd>{text}</dd>
                  </div>
                ))}
              </dl>
            </>
          )}
          <h3>Gold answer</h3>
          <p class="chain-text">{question.gold ?? "None is given."}</p>
          {store.page.kind === "soundness" && (
            <p class="muted small">The gold answer is shown, as in the paper’s audit: a right answer does not make the reasoning sound, nor a wrong one unsound steps before it.</p>
          )}
        </div>
      )}
    </>
  );
}

const isGold = (letter: string, gold: string | null): boolean => gold?.trim().toLowerCase() === letter.toLowerCase();
