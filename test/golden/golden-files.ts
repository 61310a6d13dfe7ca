import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { FailureCause, ResponseRecord, TransportFailure } from 'hookswitch/adapter'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { compareHeaders, matchesTemplate, replaceVolatile } from './compare.js'
import { type Exchange, type GoldenFile, type Pair, parseGolden } from './golden-file.js'
import { createHarness, type GoldenHarness } from './harness.js'
import type { StoreFactory } from './store-factory.js'

type ResponseStream = NonNullable<ResponseRecord['stream']>

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
/** Names of the golden files. */
export const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.http'))
  .sort()

const fillValues = (text: string, values: ReadonlyMap<string, string>) =>
  text.replace(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
    const value = values.get(name)
    if (value === undefined) throw new Error(`no value was captured as {{${name}}}`)
    return value
  })

/** Returns the exchange with every `{{name}}` filled in. */
function fillExchange(exchange: Exchange, values: ReadonlyMap<string, string>): Exchange {
  const pairs = (list: readonly Pair[]) =>
    list.map(([name, value]): Pair => [name, fillValues(value, values)])
  const { response } = exchange
  return {
    ...exchange,
    target: fillValues(exchange.target, values),
    headers: pairs(exchange.headers),
    body: fillValues(exchange.body, values),
    response: { ...response, headers: pairs(response.headers), body: fillValues(response.body, values) },
  }
}

/** Headers with lower-case names; repeated ones are joined, except for tokens (RFC 9110, section 5.3). */
function headerRecord(pairs: readonly Pair[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    const previous = record[key]
    if (previous === undefined) record[key] = value
    else record[key] = key === 'x-auth-token' ? [previous, value].flat() : `${previous}, ${value}`
  }
  return record
}

/** Expands `<repeat 5 ab>` and `<bytes 7b ff>`: long bodies, and bodies that are not text. */
function bodyBytes(body: string): Uint8Array | undefined {
  if (body === '') return undefined
  const [, hex] = /^<bytes ([0-9a-f ]+)>$/.exec(body) ?? []
  if (hex !== undefined) return Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return Buffer.from(
    body.replace(/<repeat ([0-9]+) ([^>]+)>/g, (_, count, text: string) => text.repeat(Number(count))),
  )
}

const expandTarget = (text: string) =>
  text.replace(/<repeat ([0-9]+) ([^>]+)>/g, (_, n, part: string) => part.repeat(Number(n)))

function captureValues(
  exchange: Exchange,
  headers: Readonly<Record<string, string>>,
  body: string,
  harness: GoldenHarness,
) {
  for (const [name, path] of exchange.captures) {
    const value: unknown = path.startsWith('header ')
      ? headers[path.slice(7)]
      : path.split('.').reduce((value, key) => value?.[key], JSON.parse(body))
    expect(typeof value, `${exchange.title}: ${path} has a value`).toMatch(/^(string|number)$/)
    harness.values.set(name, String(value))
  }
}

function compareBody(title: string, expectedText: string, actual: string, volatile: readonly string[]) {
  if (expectedText === '' || actual === '') return expect(actual, `${title}: body`).toBe(expectedText)
  const expected: unknown = JSON.parse(expectedText)
  expect(replaceVolatile(expected, JSON.parse(actual), volatile), `${title}: body`).toEqual(expected)
}

/** The parts of a live stream, which are separated by empty lines. */
const partsOf = (text: string) => text.split('\n\n').filter((part) => part !== '')

/** Reads a live stream until it has sent as many parts as the file expects, and closes it. */
async function readStream(
  harness: GoldenHarness,
  stream: ResponseStream,
  { duringStream, response }: Exchange,
): Promise<string> {
  let text = ''
  const read = async () => {
    const next = await stream.next()
    text += Buffer.from(next ?? '\n\nthe stream has ended').toString()
  }
  await read()
  for (const action of duringStream) await harness.perform(action)
  while (partsOf(text).length < partsOf(response.body).length) await read()
  stream.close()
  return text.trimEnd()
}

const lastIdOf = (text: string) => [...text.matchAll(/^id: (.+)$/gm)].at(-1)?.[1]

/** Sends the request to the service and compares its response. */
async function sendToService(harness: GoldenHarness, file: GoldenFile, exchange: Exchange): Promise<void> {
  const { title, method, headers, record, response: expected } = exchange
  const body = bodyBytes(exchange.body)
  const { bytes, ...answer } = await harness.hs.handle({
    method,
    url: expandTarget(exchange.target),
    headers: headerRecord(headers),
    ...(body && { body }),
    ...record,
  })
  const response = { ...answer, body: bytes ? Buffer.from(bytes).toString() : answer.body }
  expect(response.status, `${title}: status of ${response.body}`).toBe(expected.status)
  compareHeaders(title, expected.headers, response.headers)
  if (response.stream) {
    const text = await readStream(harness, response.stream, exchange)
    expect(matchesTemplate(expected.body, text), `${title}: ${text}`).toBe(true)
    return captureValues(exchange, response.headers, JSON.stringify({ id: lastIdOf(text) }), harness)
  }
  if (response.body !== '')
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.body)))
  if (exchange.isExact)
    expect(matchesTemplate(expected.body, response.body), `${title}: ${response.body}`).toBe(true)
  else compareBody(title, expected.body, response.body, file.volatile)
  captureValues(exchange, response.headers, response.body, harness)
}

/** Compares the service's next request to a receiver and responds to it. */
async function receiveFromService(
  harness: GoldenHarness,
  file: GoldenFile,
  exchange: Exchange,
): Promise<void> {
  const { title, method, headers, response } = exchange
  const sent = await harness.nextRequest()
  const { request } = sent
  const names = request.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const values = request.headers.filter((_, index) => index % 2 === 1)
  const record = Object.fromEntries(names.map((name, index) => [name, values[index]!]))
  expect(new Set(names).size, `${title}: no header is repeated`).toBe(names.length)
  expect({
    method: request.method,
    url: matchesTemplate(exchange.target, request.url) ? exchange.target : request.url,
  }).toEqual({
    method,
    url: exchange.target,
  })
  compareHeaders(title, headers, record)
  const body = request.body ?? ''
  if (exchange.isExact) expect(matchesTemplate(exchange.body, body), `${title}: ${body}`).toBe(true)
  else compareBody(title, exchange.body, body, file.volatile)
  captureValues(exchange, record, body === '' || exchange.isExact ? '{}' : body, harness)
  const { failure, cause } = exchange.record as { failure?: TransportFailure; cause?: FailureCause }
  if (failure !== undefined)
    return harness.respond(sent, {
      kind: 'no_response',
      failure,
      detail: 'from the golden file',
      ...(cause && { cause }),
    })
  await harness.respond(sent, {
    kind: 'response',
    status: response.status,
    headers: response.headers.flat(),
    body: response.body,
    bodyEnd: 'complete',
  })
}

/** Registers a test of every golden file for this store. */
export function goldenFiles(factory: StoreFactory): void {
  describe(`golden files on the ${factory.name} store`, () => {
    let harness: GoldenHarness | undefined
    afterEach(() => harness?.close())

    it.each(NAMES)('%s', async (name) => {
      const file = parseGolden(readFileSync(FOLDER + name, 'utf8'))
      harness = await createHarness(factory, file.options)
      for (const exchange of file.exchanges) {
        for (const action of exchange.actions) await harness.perform(action)
        const ready = fillExchange(exchange, harness.values)
        const run = () => (ready.isOutgoing ? receiveFromService : sendToService)(harness!, file, ready)
        // A GET may run before the store has written an earlier change, so it is repeated until it succeeds.
        const isOnce = ready.isOutgoing || ready.method !== 'GET' || ready.duringStream.length > 0
        if (isOnce) await run()
        else await vi.waitFor(run, { timeout: 20_000, interval: 5 })
      }
      expect(
        harness.unmatched.map(({ request }) => request.url),
        'requests without an exchange',
      ).toEqual([])
    })
  })
}
