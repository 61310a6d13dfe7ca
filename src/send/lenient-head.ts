/**
 * Reads what can be read of a response head that the HTTP parser refused, or that has not arrived whole. The status line
 * decides what happens to a delivery, so no fault behind it may hide it.
 */

/** What can be read of a response with a good status line. */
interface LenientHead {
  /** 200 to 999. */
  readonly status: number
  /** Flat list: name, value, …, of the header lines that are whole and have a valid name. */
  readonly headers: readonly string[]
  /** What follows the head, as received; `undefined` where the end of the head is missing. */
  readonly body: Buffer | undefined
  /** What is wrong with the head, in a few words; `undefined`: nothing that is known here. */
  readonly fault: string | undefined
}

/** A line and its end: a carriage return alone counts too, so that it never becomes part of a value. */
const LINE = /([^\r\n]*)(\r\n?|\n)/y
const STATUS_LINE = /^HTTP\/1\.\d[ \t]+([2-9]\d\d)(?:[ \t]|$)/
const FIELD_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/
const CONTROLS = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g

/** Reads the head at the beginning of `bytes`; `undefined` without a complete and good status line. */
export function readHead(bytes: Buffer): LenientHead | undefined {
  const text = bytes.toString('latin1')
  const headers: string[] = []
  let at = 0
  let fault: string | undefined
  let lengths = 0
  let isChunked = false
  /** The parts of the value of the last header; `undefined` after a line that is none. */
  let value: string[] | undefined

  function nextLine(): string | undefined {
    LINE.lastIndex = at
    const found = LINE.exec(text)
    if (!found) return undefined
    at = LINE.lastIndex
    if (found[2] === '\n') fault ??= 'a line ends with a line feed alone'
    if (found[2] === '\r' && at < text.length) fault ??= 'a line ends with a carriage return alone'
    return found[1]
  }

  function endHeader(): void {
    if (value) headers.push(value.join(' '))
    value = undefined
  }

  function readLine(line: string): void {
    if (CONTROL.test(line)) fault ??= 'a header has a control character'
    if (isBlank(line.charCodeAt(0))) {
      fault ??= 'a header is folded over several lines'
      value?.push(cleanValue(line, 0))
      return
    }
    endHeader()
    const colon = line.indexOf(':')
    if (colon < 0) {
      fault ??= 'a header line has no colon'
      return
    }
    let nameEnd = colon
    while (nameEnd > 0 && isBlank(line.charCodeAt(nameEnd - 1))) nameEnd -= 1
    if (nameEnd < colon) fault ??= 'there is a space before the colon of a header'
    const name = line.slice(0, nameEnd)
    if (!FIELD_NAME.test(name)) {
      fault ??= 'the name of a header is not valid'
      return
    }
    const first = cleanValue(line, colon + 1)
    headers.push(name)
    value = [first]
    const lowerName = name.length > 20 ? '' : name.toLowerCase()
    if (lowerName === 'transfer-encoding') isChunked = true
    if (lowerName !== 'content-length') return
    lengths += 1
    if (!/^\d+$/.test(first)) fault ??= 'the content-length is not a number'
  }

  const status = STATUS_LINE.exec(nextLine() ?? '')?.[1]
  if (status === undefined) return undefined
  let line = nextLine()
  for (; line; line = nextLine()) readLine(line)
  endHeader()
  if (lengths > 1) fault ??= 'there is more than one content-length'
  if (lengths > 0 && isChunked) fault ??= 'there are both a content-length and a transfer-encoding'
  const body = line === '' ? bytes.subarray(at) : undefined
  return { status: Number(status), headers, body, fault }
}

const isBlank = (code: number) => code === 0x20 || code === 0x09

/** From `start`, without the white space around it; control characters become spaces (RFC 9110, 5.5). */
function cleanValue(line: string, start: number): string {
  let from = start
  let to = line.length
  while (from < to && isBlank(line.charCodeAt(from))) from += 1
  while (to > from && isBlank(line.charCodeAt(to - 1))) to -= 1
  return line.slice(from, to).replace(CONTROLS, ' ')
}
