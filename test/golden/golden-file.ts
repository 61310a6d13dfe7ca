/**
 * The format of golden files. The first line names the source of the expectation; directives for the whole file follow,
 * then exchanges separated by lines of `###`:
 *
 *     # the specification, section 4: the behaviour that this file shows
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
 * Volatile fields must match the placeholder in their place; everything else is compared exactly. Of the headers, only
 * those in the file are compared; their values can contain placeholders. `{{name}}` is a value that an earlier exchange
 * captured with `# keep`. `# host: name argument` performs an action of the host before the exchange.
 *
 * `# receiver` marks a request of the service to a receiver: the file has the expected request and the receiver's
 * response. With `# record: {"failure":"timeout"}` the receiver does not respond.
 */

export type Pair = readonly [name: string, value: string]

/** An action of the host, or a change of the clock, before an exchange. */
export interface HostAction {
  readonly name: string
  readonly argument: unknown
}

export interface Exchange {
  /** Title in messages: `PUT /v1/api_auth (line 4)`. */
  readonly title: string
  /** True: a request of the service to a receiver. */
  readonly isOutgoing: boolean
  readonly actions: readonly HostAction[]
  /** Actions while a live stream is read, after its beginning. */
  readonly duringStream: readonly HostAction[]
  /** Values to capture: name → dotted path in the response (of a live stream: `id`, the last one), or `header <name>`. */
  readonly captures: readonly Pair[]
  /** Additional fields of the request record: `remoteAddress`, `mountPrefix`, `bodyProblem`; for receivers: `failure`, `cause`. */
  readonly record: Readonly<Record<string, unknown>>
  /** The body of the response is compared as text. */
  readonly isExact: boolean
  readonly method: string
  readonly target: string
  readonly headers: readonly Pair[]
  readonly body: string
  readonly response: { readonly status: number; readonly headers: readonly Pair[]; readonly body: string }
}

export interface GoldenFile {
  /** Source of the expectation. */
  readonly source: string
  readonly volatile: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  readonly exchanges: readonly Exchange[]
}

const SOURCE_PREFIXES =
  /^(the specification, section [1-9](\.[0-9])?|KAZOO|RFC [0-9]{4,5}|Standard Webhooks 1\.0\.0|hookswitch's own)[ ,:]/

type Lines = { text: string; number: number }[]

function fail(line: number, problem: string): never {
  throw new Error(`golden file, line ${line}: ${problem}`)
}

/** Parses a golden file. Errors contain the line number. */
export function parseGolden(text: string): GoldenFile {
  const lines: Lines = text.split('\n').map((line, lineIndex) => ({ text: line, number: lineIndex + 1 }))
  const source = lines[0]?.text.replace(/^# /, '') ?? ''
  if (!SOURCE_PREFIXES.test(source)) fail(1, 'must start with the source of the expectation')
  let volatile: readonly string[] = []
  let options: Readonly<Record<string, unknown>> = {}
  let index = 1
  for (; lines[index]?.text.startsWith('# '); index += 1) {
    const { name, value } = parseDirective(lines[index]!)
    if (name === 'volatile') volatile = value.split(',').map((path) => path.trim())
    else if (name === 'options') options = parseJson(lines[index]!.number, value) as typeof options
    else break
  }
  const blocks: Lines[] = [[]]
  for (const line of lines.slice(index)) {
    if (/^###/.test(line.text)) blocks.push([])
    else blocks.at(-1)!.push(line)
  }
  return { source, volatile, options, exchanges: blocks.map(parseExchange) }
}

function parseDirective({ text, number }: Lines[number]): { name: string; value: string } {
  const [, name, value] = /^# ([a-z]+)(?:: (.*))?$/.exec(text) ?? fail(number, `not a directive: ${text}`)
  return { name: name!, value: value ?? '' }
}

function parseJson(line: number, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return fail(line, `invalid JSON: ${text}`)
  }
}

function parseExchange(block: Lines): Exchange {
  const lines = block.filter(
    (line, index) => line.text !== '' || block.slice(0, index).some((l) => l.text !== ''),
  )
  const actions: HostAction[] = []
  const duringStream: HostAction[] = []
  const captures: Pair[] = []
  let record: Record<string, unknown> = {}
  const flags = new Set<string>()
  let start = 0
  for (; lines[start]?.text.startsWith('# '); start += 1) {
    const { number } = lines[start]!
    const { name, value } = parseDirective(lines[start]!)
    if (name === 'host' || name === 'during') {
      const [, action, argument] =
        /^([a-z]+)(?: (.+))?$/.exec(value) ?? fail(number, `not an action: ${value}`)
      const list = name === 'host' ? actions : duringStream
      list.push({
        name: action!,
        argument: argument === undefined ? undefined : parseJson(number, argument),
      })
    } else if (name === 'keep') {
      const [, key, path] = /^([a-z_]+) = (.+)$/.exec(value) ?? fail(number, 'keep: name = path')
      captures.push([key!, path!])
    } else if (name === 'record') record = parseJson(number, value) as typeof record
    else if ((name === 'receiver' || name === 'exact') && value === '') flags.add(name)
    else if (name !== 'note') fail(number, `unknown directive ${name}`)
  }
  const first = lines[start] ?? fail(block.at(-1)?.number ?? 0, 'an exchange without a request')
  const [, method, target] = /^([A-Z]+) (.+)$/.exec(first.text) ?? fail(first.number, 'METHOD target')
  const status = lines.findIndex((line, index) => index > start && /^HTTP\/1\.1 [0-9]{3}$/.test(line.text))
  if (status < 0) fail(first.number, 'an exchange without a response')
  const request = parseMessage(lines.slice(start + 1, status))
  const response = parseMessage(lines.slice(status + 1))
  return {
    title: `${method} ${target} (line ${first.number})`,
    isOutgoing: flags.has('receiver'),
    isExact: flags.has('exact'),
    actions,
    duringStream,
    captures,
    record,
    method: method!,
    target: target!,
    ...request,
    response: { status: Number(lines[status]!.text.slice(9)), ...response },
  }
}

/** Parses headers, an empty line and the body; leading and trailing empty lines are not part of the body. */
function parseMessage(lines: Lines): { headers: readonly Pair[]; body: string } {
  const end = lines.findIndex(({ text }) => text === '')
  const head = end < 0 ? lines : lines.slice(0, end)
  const headers = head.map(({ text, number }): Pair => {
    const colon = text.indexOf(':')
    if (colon < 1) fail(number, `not a header: ${text}`)
    return [text.slice(0, colon), text.slice(colon + 1).trim()]
  })
  const body = end < 0 ? [] : lines.slice(end + 1).map(({ text }) => text)
  return { headers, body: body.join('\n').replace(/^\n+|\n+$/g, '') }
}
