/** `fakeKamailio`: replays a recorded stream of lines, over `evapi` or by HTTP. */
import { Agent, type ClientRequest, request } from 'node:http'
import { invalidOption, type Validator, wholeNumber } from '../../options/validators.js'
import { systemClock } from '../../runtime/clock.js'
import { checkOptions } from '../check-options.js'
import { createFakeSwitch, FAKE_CHECKS, type FakeOptions, type FakeSwitch } from './fake-switch.js'
import { type KamailioEvent, parseKamailioRecording } from './kamailio-recording.js'

/** Options of `fakeKamailio`. */
export interface FakeKamailioOptions extends FakeOptions {
  /** URL that the lines are posted to, `http://…`. Default: none; lines are only sent to connected clients. */
  readonly url?: string | undefined
  /** Headers of the requests: `{ authorization: 'Bearer …' }`. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Maximum number of lines per request. Default 1, sent as a JSON object; more are sent as NDJSON. */
  readonly batch?: number | undefined
}

/** A local Kamailio. */
export interface FakeKamailio extends FakeSwitch {
  /** The results of the last 1,000 requests. */
  readonly answers: readonly PostAnswer[]
}

/** The result of a request. */
export interface PostAnswer {
  /** Status code; `undefined`: there was no response, and the lines are lost. */
  readonly status: number | undefined
  /** Number of lines in the request. */
  readonly lines: number
}

const checkHttpUrl: Validator = (field, value) => {
  if (typeof value !== 'string' || !URL.canParse(value) || new URL(value).protocol !== 'http:') {
    throw invalidOption(field, 'must be a URL, http://…')
  }
}
const checkHeaders: Validator = (field, value) => {
  const all = typeof value === 'object' && value !== null ? Object.values(value) : [undefined]
  if (!all.every((text) => typeof text === 'string')) throw invalidOption(field, 'must be strings by name')
}
const CHECKS: Readonly<Record<keyof FakeKamailioOptions, Validator>> = Object.freeze({
  ...FAKE_CHECKS,
  url: checkHttpUrl,
  headers: checkHeaders,
  batch: wholeNumber(1, 10_000),
})

const MAX_ANSWERS = 1_000

/**
 * A Kamailio that replays recorded lines: as netstrings to every connected client, as the module `evapi` does, and, with
 * `url`, by HTTP. A request that is answered 503 is repeated after its `Retry-After` (default 1 s), any other is not.
 *
 * @param options.recording one JSON object per line
 * @throws `InvalidOption` naming the option, also for a recording without lines
 */
export function fakeKamailio(options: FakeKamailioOptions): FakeKamailio {
  checkOptions('fakeKamailio', options, CHECKS, ['recording'])
  const { url, headers = {}, batch = 1, clock = systemClock() } = options
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ending = new AbortController()
  const answers: PostAnswer[] = []
  const pending: string[] = []
  let current: ClientRequest | undefined

  const postPending = async () => {
    const lines = pending.splice(0)
    if (lines.length === 0 || isSilent()) return
    for (;;) {
      const { status, retryAfterSeconds } = await post(lines)
      answers.push({ status, lines: lines.length })
      if (answers.length > MAX_ANSWERS) answers.shift()
      if (status !== 503 || ending.signal.aborted) return
      await clock.sleep(retryAfterSeconds * 1000, ending.signal)
    }
  }
  /** Sends one request; the status is `undefined` if it was cut or failed. */
  function post(lines: readonly string[]) {
    const body = Buffer.from(lines.join('\n'), 'latin1')
    const type = batch === 1 ? 'application/json' : 'application/x-ndjson'
    const cutAfter = takeCut()
    return new Promise<{ status: number | undefined; retryAfterSeconds: number }>((resolve) => {
      const sent = request(url ?? '', {
        method: 'POST',
        agent,
        headers: { 'content-type': type, 'content-length': body.length, ...headers },
      })
      current = sent
      sent.on('error', () => resolve({ status: undefined, retryAfterSeconds: 0 }))
      sent.on('response', (response) => {
        response.resume()
        response.on('error', () => {})
        const retryAfterSeconds = Number(response.headers['retry-after'] ?? 1)
        response.on('close', () => resolve({ status: response.statusCode, retryAfterSeconds }))
      })
      if (cutAfter === undefined) sent.end(body)
      else sent.write(body.subarray(0, cutAfter), () => sent.destroy())
    })
  }

  const { controls, isSilent, subscribe, takeCut } = createFakeSwitch<KamailioEvent>(options, {
    events: parseKamailioRecording(options.recording),
    serveClient(client) {
      subscribe(client, ({ text }) => Buffer.from(`${text.length}:${text},`, 'latin1'))
      return () => {}
    },
    async deliver({ text }) {
      if (url === undefined) return
      pending.push(text)
      if (pending.length >= batch) await postPending()
    },
    flush: postPending,
  })
  const { cut, close } = controls
  return Object.assign(controls, {
    answers,
    cut() {
      cut()
      current?.destroy()
    },
    async close() {
      ending.abort()
      current?.destroy()
      agent.destroy()
      await close()
    },
  })
}
