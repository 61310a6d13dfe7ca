/**
 * How a golden file reads. On top the source of its expectation and what concerns the whole file, then exchanges,
 * parted by lines of `###`:
 *
 *     # the specification, section 4: what this file shows
 *     # volatile: request_id, node
 *     # options: {"ingest":true}
 *     # keep: webhook = data.id
 *     PUT /v1/accounts/parent/webhooks
 *     X-Auth-Token: {{token}}
 *
 *     {"data":{ … }}
 *
 *     HTTP/1.1 201
 *     content-type: application/json
 *     etag: <absent>
 *
 *     {"data":{ … },"request_id":"<id>"}
 *
 * Everything but the volatile fields is compared; those must have the shape that stands in their place. Headers are
 * compared where they are named, and may hold shapes too. `{{name}}` is a value kept from an earlier answer.
 *
 * An exchange marked `# receiver` goes the other way: the request is what the service sends, and is compared (its
 * headers where named), the answer is what the receiver says; with `# record: {"failure":"timeout"}` it says nothing.
 */

export type Pair = readonly [name: string, value: string]

/** Something that the host, or time, does before an exchange. */
export interface Deed {
  readonly name: string
  readonly argument: unknown
}

export interface Exchange {
  /** For messages: `PUT /v1/api_auth (line 4)`. */
  readonly title: string
  /** True: from us to a receiver. */
  readonly outgoing: boolean
  readonly deeds: readonly Deed[]
  /** Name → dotted path in the answer, or `header <name>`. */
  readonly keep: readonly Pair[]
  /** Further fields of the request record: `remoteAddress`, `mountPrefix`, `bodyProblem`; of a receiver: `failure`. */
  readonly record: Readonly<Record<string, unknown>>
  /** The body of the answer is compared as text. */
  readonly exact: boolean
  readonly method: string
  readonly target: string
  readonly headers: readonly Pair[]
  readonly body: string
  readonly answer: { readonly status: number; readonly headers: readonly Pair[]; readonly body: string }
}

export interface GoldenFile {
  /** Where the expectation comes from. */
  readonly source: string
  readonly volatile: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly exchanges: readonly Exchange[]
}

const SOURCES =
  /^(the specification, section [1-9](\.[0-9])?|KAZOO|RFC [0-9]{4,5}|Standard Webhooks 1\.0\.0|hookswitch's own)[ ,:]/

type Lines = { text: string; number: number }[]

function fail(line: number, problem: string): never {
  throw new Error(`golden file, line ${line}: ${problem}`)
}

/** Reads a golden file. Throws with the number of the line. */
export function parseGolden(text: string): GoldenFile {
  const lines: Lines = text.split('\n').map((line, index) => ({ text: line, number: index + 1 }))
  const source = lines[0]?.text.replace(/^# /, '') ?? ''
  if (!SOURCES.test(source)) fail(1, 'begins with the source of its expectation')
  let volatile: readonly string[] = []
  let options: Readonly<Record<string, unknown>> = {}
  let at = 1
  for (; lines[at]?.text.startsWith('# '); at += 1) {
    const { name, value } = directive(lines[at]!)
    if (name === 'volatile') volatile = value.split(',').map((path) => path.trim())
    else if (name === 'options') options = json(lines[at]!.number, value) as typeof options
    else break
  }
  const blocks: Lines[] = [[]]
  for (const line of lines.slice(at)) {
    if (/^###/.test(line.text)) blocks.push([])
    else blocks.at(-1)!.push(line)
  }
  return { source, volatile, options, exchanges: blocks.map(parseExchange) }
}

function directive({ text, number }: Lines[number]): { name: string; value: string } {
  const [, name, value] = /^# ([a-z]+)(?:: (.*))?$/.exec(text) ?? fail(number, `no directive: ${text}`)
  return { name: name!, value: value ?? '' }
}

function json(line: number, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail(line, `no JSON: ${text}`)
  }
}

function parseExchange(block: Lines): Exchange {
  const lines = block.filter(
    (line, index) => line.text !== '' || block.slice(0, index).some((l) => l.text !== ''),
  )
  const deeds: Deed[] = []
  const keep: Pair[] = []
  let record: Record<string, unknown> = {}
  const marks = new Set<string>()
  let at = 0
  for (; lines[at]?.text.startsWith('# '); at += 1) {
    const { number } = lines[at]!
    const { name, value } = directive(lines[at]!)
    if (name === 'host') {
      const [, deed, argument] = /^([a-z]+)(?: (.+))?$/.exec(value) ?? fail(number, `no deed: ${value}`)
      deeds.push({ name: deed!, argument: argument === undefined ? undefined : json(number, argument) })
    } else if (name === 'keep') {
      const [, as, path] = /^([a-z_]+) = (.+)$/.exec(value) ?? fail(number, 'keep: name = path')
      keep.push([as!, path!])
    } else if (name === 'record') record = json(number, value) as typeof record
    else if ((name === 'receiver' || name === 'exact') && value === '') marks.add(name)
    else if (name !== 'note') fail(number, `unknown directive ${name}`)
  }
  const first = lines[at] ?? fail(block.at(-1)?.number ?? 0, 'an exchange without a request')
  const [, method, target] = /^([A-Z]+) (.+)$/.exec(first.text) ?? fail(first.number, 'METHOD target')
  const status = lines.findIndex((line, index) => index > at && /^HTTP\/1\.1 [0-9]{3}$/.test(line.text))
  if (status < 0) fail(first.number, 'an exchange without an answer')
  const request = parseMessage(lines.slice(at + 1, status))
  const answer = parseMessage(lines.slice(status + 1))
  return {
    title: `${method} ${target} (line ${first.number})`,
    outgoing: marks.has('receiver'),
    exact: marks.has('exact'),
    deeds,
    keep,
    record,
    method: method!,
    target: target!,
    ...request,
    answer: { status: Number(lines[status]!.text.slice(9)), ...answer },
  }
}

/** Headers, an empty line, the body; empty lines around the body are not part of it. */
function parseMessage(lines: Lines): { headers: readonly Pair[]; body: string } {
  const end = lines.findIndex(({ text }) => text === '')
  const head = end < 0 ? lines : lines.slice(0, end)
  const headers = head.map(({ text, number }): Pair => {
    const colon = text.indexOf(':')
    if (colon < 1) fail(number, `no header: ${text}`)
    return [text.slice(0, colon), text.slice(colon + 1).trim()]
  })
  const body = end < 0 ? [] : lines.slice(end + 1).map(({ text }) => text)
  return { headers, body: body.join('\n').replace(/^\n+|\n+$/g, '') }
}
