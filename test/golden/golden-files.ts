import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TransportFailure } from 'hookswitch'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { compareHeaders, fits, levelled } from './compare.js'
import { type Exchange, type GoldenFile, type Pair, parseGolden } from './golden-file.js'
import type { StoreMaker } from './store-maker.js'
import { openWorld, type World } from './world.js'

const FOLDER = fileURLToPath(new URL('.', import.meta.url))
/** Of the files that say what is asked and what is answered. */
export const NAMES = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.http'))
  .sort()

const fill = (text: string, values: ReadonlyMap<string, string>) =>
  text.replace(/\{\{([a-z_]+)\}\}/g, (_, name: string) => {
    const value = values.get(name)
    if (value === undefined) throw new Error(`nothing was kept as {{${name}}}`)
    return value
  })

/** The exchange with every `{{name}}` in it filled in. */
function filled(exchange: Exchange, values: ReadonlyMap<string, string>): Exchange {
  const pairs = (list: readonly Pair[]) => list.map(([name, value]): Pair => [name, fill(value, values)])
  const { answer } = exchange
  return {
    ...exchange,
    target: fill(exchange.target, values),
    headers: pairs(exchange.headers),
    body: fill(exchange.body, values),
    answer: { ...answer, headers: pairs(answer.headers), body: fill(answer.body, values) },
  }
}

/** Lower-case names; what was sent twice is joined, but for tokens (RFC 9110, section 5.3). */
function headerRecord(pairs: readonly Pair[]): Record<string, string | string[]> {
  const record: Record<string, string | string[]> = {}
  for (const [name, value] of pairs) {
    const key = name.toLowerCase()
    const before = record[key]
    if (before === undefined) record[key] = value
    else record[key] = key === 'x-auth-token' ? [before, value].flat() : `${before}, ${value}`
  }
  return record
}

/** `<repeat 5 ab>` and `<bytes 7b ff>` stand for bodies that no text file holds well. */
function bodyBytes(body: string): Uint8Array | undefined {
  if (body === '') return undefined
  const [, hex] = /^<bytes ([0-9a-f ]+)>$/.exec(body) ?? []
  if (hex !== undefined) return Buffer.from(hex.replaceAll(' ', ''), 'hex')
  return Buffer.from(
    body.replace(/<repeat ([0-9]+) ([^>]+)>/g, (_, count, text: string) => text.repeat(Number(count))),
  )
}

const target = (text: string) =>
  text.replace(/<repeat ([0-9]+) ([^>]+)>/g, (_, n, part: string) => part.repeat(Number(n)))

function keep(exchange: Exchange, headers: Readonly<Record<string, string>>, body: string, world: World) {
  for (const [name, path] of exchange.keep) {
    const value: unknown = path.startsWith('header ')
      ? headers[path.slice(7)]
      : path.split('.').reduce((at, key) => at?.[key], JSON.parse(body))
    expect(typeof value, `${exchange.title}: ${path} is there to be kept`).toMatch(/^(string|number)$/)
    world.values.set(name, String(value))
  }
}

function compareBody(title: string, wanted: string, actual: string, volatile: readonly string[]) {
  if (wanted === '' || actual === '') return expect(actual, `${title}: body`).toBe(wanted)
  const expected: unknown = JSON.parse(wanted)
  expect(levelled(expected, JSON.parse(actual), volatile), `${title}: body`).toEqual(expected)
}

/** A request to the service. */
async function play(world: World, file: GoldenFile, exchange: Exchange): Promise<void> {
  const { title, method, headers, record, answer } = exchange
  const body = bodyBytes(exchange.body)
  const response = await world.hs.handle({
    method,
    url: target(exchange.target),
    headers: headerRecord(headers),
    ...(body && { body }),
    ...record,
  })
  expect(response.status, `${title}: status of ${response.body}`).toBe(answer.status)
  compareHeaders(title, answer.headers, response.headers)
  if (response.body !== '')
    expect(response.headers['content-length']).toBe(String(Buffer.byteLength(response.body)))
  if (exchange.exact) expect(fits(answer.body, response.body), `${title}: ${response.body}`).toBe(true)
  else compareBody(title, answer.body, response.body, file.volatile)
  keep(exchange, response.headers, response.body, world)
}

/** A request of the service to a receiver. */
async function receive(world: World, file: GoldenFile, exchange: Exchange): Promise<void> {
  const { title, method, headers, answer } = exchange
  const sent = await world.sent()
  const { request } = sent
  const names = request.headers.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase())
  const values = request.headers.filter((_, index) => index % 2 === 1)
  const record = Object.fromEntries(names.map((name, index) => [name, values[index]!]))
  expect(new Set(names).size, `${title}: no header is sent twice`).toBe(names.length)
  expect({
    method: request.method,
    url: fits(exchange.target, request.url) ? exchange.target : request.url,
  }).toEqual({
    method,
    url: exchange.target,
  })
  compareHeaders(title, headers, record)
  const body = request.body ?? ''
  if (exchange.exact) expect(fits(exchange.body, body), `${title}: ${body}`).toBe(true)
  else compareBody(title, exchange.body, body, file.volatile)
  keep(exchange, record, body === '' || exchange.exact ? '{}' : body, world)
  const { failure } = exchange.record as { failure?: TransportFailure }
  if (failure !== undefined)
    return world.answer(sent, { kind: 'no_response', failure, detail: 'as the file says' })
  await world.answer(sent, {
    kind: 'response',
    status: answer.status,
    headers: answer.headers.flat(),
    body: answer.body,
    bodyEnd: 'complete',
  })
}

/** Registers a test for every golden file on this store. */
export function goldenFiles(maker: StoreMaker): void {
  describe(`golden files on the ${maker.name} store`, () => {
    let world: World | undefined
    afterEach(() => world?.close())

    it.each(NAMES)('%s', async (name) => {
      const file = parseGolden(readFileSync(FOLDER + name, 'utf8'))
      world = await openWorld(maker, file.options)
      for (const exchange of file.exchanges) {
        for (const deed of exchange.deeds) await world.do(deed)
        const ready = filled(exchange, world.values)
        const act = () => (ready.outgoing ? receive : play)(world!, file, ready)
        // What is read follows what was done as soon as the store has written it.
        if (ready.outgoing || ready.method !== 'GET') await act()
        else await vi.waitFor(act, { timeout: 20_000, interval: 5 })
      }
      expect(
        world.unseen.map(({ request }) => request.url),
        'requests that no exchange names',
      ).toEqual([])
    })
  })
}
