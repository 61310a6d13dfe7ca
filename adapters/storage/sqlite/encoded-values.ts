/**
 * Many values as they cross to the thread of the database and back: one text and one buffer of numbers, both read from front
 * to back. A structured clone of the objects costs several times as much, on both sides.
 */

/** Values in the order in which they were written. */
export interface Encoded {
  readonly text: string
  readonly numbers: Float64Array
}

/** Appends values. */
export class Writer {
  private text = ''
  private readonly numbers: number[] = []

  number(value: number): void {
    this.numbers.push(value)
  }

  string(value: string): void {
    this.numbers.push(value.length)
    this.text += value
  }

  optionalNumber(value: number | undefined): void {
    this.numbers.push(value ?? Number.NaN)
  }

  optionalString(value: string | undefined): void {
    if (value === undefined) this.numbers.push(-1)
    else this.string(value)
  }

  list<Item>(items: readonly Item[], write: (item: Item) => void): void {
    this.numbers.push(items.length)
    for (const item of items) write(item)
  }

  finish(): Encoded {
    return { text: this.text, numbers: new Float64Array(this.numbers) }
  }
}

/** Reads values in the order in which they were written. */
export class Reader {
  private readonly text: string
  private readonly numbers: Float64Array
  private offset = 0
  private next = 0

  constructor({ text, numbers }: Encoded) {
    this.text = text
    this.numbers = numbers
  }

  number(): number {
    return this.numbers[this.next++]!
  }

  string(): string {
    const from = this.offset
    this.offset += this.number()
    return this.text.slice(from, this.offset)
  }

  optionalNumber(): number | undefined {
    const value = this.number()
    return Number.isNaN(value) ? undefined : value
  }

  optionalString(): string | undefined {
    if (this.numbers[this.next] !== -1) return this.string()
    this.next += 1
    return undefined
  }

  list<Item>(read: () => Item): Item[] {
    const items: Item[] = []
    for (let count = this.number(); count > 0; count -= 1) items.push(read())
    return items
  }
}
