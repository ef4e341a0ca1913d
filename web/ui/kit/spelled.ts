// Texts of strangers that a user judges before agreeing to them.

/** What shows nothing, moves what is beside it, or looks like an ordinary space; line ends and tabs are seen. */
const HIDDEN = /(?![\n\t ])[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** The text with all that a page would hide spelled as its code point. */
export function spelled(text: string): string {
  return text.replace(HIDDEN, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);
}
