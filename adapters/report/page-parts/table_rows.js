/*
 * What rows and pairs of rows have in common: ids, texts to seek in, and questions, each with its
 * columns. It knows nothing of the document.
 */

export class TableRows {
  constructor(overview, columns) {
    this.overview = overview;
    this.columns = columns;
    this.length = columns.ids.length;
    this.questions = overview.questions.map((question, index) => ({
      ...question,
      ...columns.questions[index],
    }));
    this.rests = null;
    this.folded = null;
  }

  /** Take the rest of the texts, which follow the columns. */
  addTexts(rests) {
    this.rests = rests;
    this.folded = null;
  }

  text(row) {
    return this.columns.texts[row] + (this.rests?.[row] ?? "");
  }

  /** Return the questions that a filter is about. */
  asked({ question }) {
    return this.questions.filter(({ id }) => !question || id === question);
  }

  /** Return every row's id and text, without the difference of small and capital letters. */
  foldedTexts() {
    this.folded ??= Array.from({ length: this.length }, (_, row) =>
      `${this.columns.ids[row]}\n${this.text(row)}`.toLowerCase(),
    );
    return this.folded;
  }
}

/** Return the words that are sought, every one of which a row must have. */
export function wordsOf(search) {
  return search.toLowerCase().split(/\s+/).filter(Boolean);
}
