// The conversation on the page: one article a turn; the last one grows while the model writes.
import { byId, connectCopy, make } from './dom.ts';
import type { Turn } from './conversation.ts';
import { renderMarkdown } from './markdown.ts';

const list = byId('messages');
const scroller = byId('scroller');

export class AnswerView {
  private readonly body = make('div', 'body');
  private readonly stats = make('p', 'stats');
  private readonly article = make('article', 'turn assistant', make('h2', 'hidden', 'Answer'), this.body, this.stats);
  private text = '';
  private frame = 0;

  constructor() {
    this.article.setAttribute('aria-busy', 'true');
    this.body.append(make('span', 'waiting', make('span', 'hidden', 'The model is reading')));
    list.append(this.article);
    scrollToEnd();
  }

  /** Shows the text so far; many calls between two frames cost one rendering. */
  update(text: string, stats: string): void {
    this.text = text;
    this.stats.textContent = stats;
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.render());
  }

  finish(turn: Turn): void {
    this.text = turn.content;
    this.stats.textContent = turn.stats ?? '';
    cancelAnimationFrame(this.frame);
    this.render();
    this.article.removeAttribute('aria-busy');
    for (const block of this.body.querySelectorAll('pre')) addCopyButton(block);
  }

  remove(): void {
    cancelAnimationFrame(this.frame);
    this.article.remove();
  }

  private render(): void {
    this.frame = 0;
    const follows = isAtEnd();
    this.body.replaceChildren(renderMarkdown(this.text));
    if (follows) scrollToEnd();
  }
}

export function showTurns(turns: Turn[]): void {
  list.replaceChildren();
  for (const turn of turns) showTurn(turn);
}

export function showTurn(turn: Turn): void {
  if (turn.role === 'assistant') {
    new AnswerView().finish(turn);
    return;
  }
  list.append(make('article', 'turn user', make('h2', 'hidden', 'You'), make('div', 'body', turn.content)));
  scrollToEnd();
}

function addCopyButton(block: HTMLElement): void {
  const text = block.textContent ?? '';
  const button = make('button', 'copy', 'Copy');
  button.type = 'button';
  connectCopy(button, () => text);
  block.append(button);
}

// The composer and the card grow and shrink below: the end of the conversation stays in sight.
let wasAtEnd = true;
scroller.addEventListener('scroll', () => (wasAtEnd = isAtEnd()));
new ResizeObserver(() => {
  if (wasAtEnd) scrollToEnd();
}).observe(scroller);

/** A reader who scrolled up is left where they are. */
function isAtEnd(): boolean {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 60;
}

function scrollToEnd(): void {
  scroller.scrollTop = scroller.scrollHeight;
}
