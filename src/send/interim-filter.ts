/**
 * Removes interim responses (1xx) from the bytes of a response, before the HTTP parser reads them. A client must accept
 * any number of them, whether it expects them or not (RFC 9110, 15.2); undici's parser refuses an unexpected 100.
 */

const LF = 10
const CR = 13
const SPACE = 32
const ZERO = 48
const NINE = 57
const EMPTY = Buffer.alloc(0)

/** The beginning of an interim response; `#` stands for a digit. */
const BEGINNING = Buffer.from('HTTP/#.# 1##')
const DIGIT = '#'.charCodeAt(0)
/** Where the first digit of the status is. */
const STATUS_AT = 9

/** The filter of one response. */
export class InterimFilter {
  /** Bytes removed so far. */
  removed = 0
  private isFinal = false
  /** Whether the bytes belong to the head of an interim response. */
  private isInterim = false
  /** Bytes of `BEGINNING` that were found. */
  private matched = 0
  /** Bytes of the current line of an interim response. */
  private lineLength = 0
  /** Bytes that are held back until it is known what they begin. */
  held: Buffer = EMPTY

  /** The part of the next chunk that belongs to the final response, with what was held back; possibly empty. */
  filter(chunk: Buffer): Buffer {
    if (this.isFinal) return chunk
    let heldFrom = 0
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at]!
      if (this.isInterim) {
        if (this.endsHead(byte)) heldFrom = at + 1
      } else if (this.matched === 0 && (byte === LF || byte === CR)) {
        // An empty line before a response belongs to nothing.
        this.removed += 1
        heldFrom = at + 1
      } else if (this.matched === BEGINNING.length && (byte === SPACE || byte === CR || byte === LF)) {
        this.removed += this.matched
        this.isInterim = true
        this.lineLength = this.matched
        this.matched = 0
        this.held = EMPTY
        this.endsHead(byte)
      } else if (isExpected(byte, BEGINNING[this.matched])) {
        this.matched += 1
      } else {
        this.isFinal = true
        const final = this.joinHeld(chunk.subarray(heldFrom))
        this.held = EMPTY
        return final
      }
    }
    if (!this.isInterim) this.held = this.joinHeld(chunk.subarray(heldFrom))
    return EMPTY
  }

  /** Takes a byte of an interim response; whether it ends its head. */
  private endsHead(byte: number): boolean {
    this.removed += 1
    if (byte === LF && this.lineLength === 0) {
      this.isInterim = false
      return true
    }
    if (byte === LF) this.lineLength = 0
    else if (byte !== CR) this.lineLength += 1
    return false
  }

  private joinHeld(part: Buffer): Buffer {
    return this.held.length === 0 ? part : Buffer.concat([this.held, part])
  }
}

/** Whether a response begins with this chunk as almost all do: it needs no filter. */
export function isOrdinary(chunk: Buffer): boolean {
  return chunk.length > STATUS_AT && chunk[STATUS_AT] !== BEGINNING[STATUS_AT] && chunk[0] === BEGINNING[0]
}

function isExpected(byte: number, expected: number | undefined): boolean {
  return expected === DIGIT ? byte >= ZERO && byte <= NINE : byte === expected
}
