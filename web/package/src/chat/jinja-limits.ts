/** What a template may compute. Internal. */
import { TemplateError } from './jinja-values.js';

/** A chat takes thousands of steps, and a page stands still meanwhile. */
const MOST_STEPS = 2_000_000;
/** UTF-16 units. */
const LONGEST_TEXT = 16_000_000;
const LONGEST_LIST = 100_000;
/** UTF-16 units of all that one rendering makes, whether or not it is kept. */
const MOST_TEXT = 64_000_000;
/** What an element of a list, or a variable, counts for beside texts. */
const ELEMENT_UNITS = 48;
const SCANNED_PER_STEP = 256;

/** Counts what one rendering computes, before it is computed. */
export class Limits {
  #steps = 0;
  #made = 0;

  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > MOST_STEPS) throw new TemplateError('it does not come to an end');
  }

  /** Something is searched or compared: UTF-16 units, or elements of a list. */
  scan(length: number): void {
    this.step(length / SCANNED_PER_STEP);
  }

  /** A part of a text that has `whole` units with it. */
  text(length: number, whole = length): void {
    if (whole > LONGEST_TEXT) throw new TemplateError(`it makes a text of more than ${LONGEST_TEXT} characters`);
    this.#make(length);
  }

  list(length: number): void {
    if (length > LONGEST_LIST) throw new TemplateError(`it makes a list of more than ${LONGEST_LIST} elements`);
    this.#make(length * ELEMENT_UNITS);
  }

  #make(units: number): void {
    this.scan(units);
    this.#made += units;
    if (this.#made > MOST_TEXT) throw new TemplateError(`it makes more than ${MOST_TEXT} characters in all`);
  }
}
