import { Agent, type ClientRequest, request } from 'node:http'
import { systemClock } from '../../clock.js'
import { type Check, invalid, whole } from '../../option-checks.js'
import { checkGiven } from '../handler/given-options.js'
import { FAKE_CHECKS, type FakeOptions, type FakeSwitch, fakeSwitch } from './fake-switch.js'
import { type KamailioEvent, readKamailio } from './kamailio-recording.js'

/** Options of `fakeKamailio`. */
export interface FakeKamailioOptions extends FakeOptions {
  /** Where the lines are posted to, `http://…`. Default: nowhere; whoever connects to the port hears them. */
  readonly url?: string
  /** Headers of the posts: `{ authorization: 'Bearer …' }`. */
  readonly headers?: Readonly<Record<string, string>>
  /** Most lines of one post. Default 1: a JSON object; more: NDJSON. */
  readonly batch?: number
}

/** A Kamailio on this machine. */
export interface FakeKamailio extends FakeSwitch {
  /** What the last thousand posts were answered. */
  readonly answers: readonly PostAnswer[]
}

/** What became of a post. */
export interface PostAnswer {
  /** Status code; undefined: there was no answer, and the lines are lost. */
  readonly status: number | undefined
  readonly lines: number
}

const httpUrl: Check = (field, value) => {
  if (typeof value !== 'string' || !URL.canParse(value) || new URL(value).protocol !== 'http:') {
    throw invalid(field, 'must be a URL, http://…')
  }
}
const headerTexts: Check = (field, value) => {
  const all = typeof value === 'object' && value !== null ? Object.values(value) : [undefined]
  if (!all.every((text) => typeof text === 'string')) throw invalid(field, 'must be texts by name')
}
const CHECKS: Readonly<Record<keyof FakeKamailioOptions, Check>> = Object.freeze({
  ...FAKE_CHECKS,
  url: httpUrl,
  headers: headerTexts,
  batch: whole(1, 10_000),
})

const MOST_ANSWERS = 1_000

/**
 * A Kamailio that replays recorded lines: as netstrings to whoever connects, as the module `evapi` does, and, with `url`,
 * by HTTP. A post that is answered 503 is sent again after its `Retry-After` (default 1 s), any other is done with.
 *
 * @param options.recording one JSON object a line
 * @throws `InvalidOption` naming the option, also for a recording without lines
 */
export function fakeKamailio(options: FakeKamailioOptions): FakeKamailio {
  checkGiven('fakeKamailio', options, CHECKS, ['recording'])
  const { url, headers = {}, batch = 1, clock = systemClock() } = options
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const ending = new AbortController()
  const answers: PostAnswer[] = []
  const pending: string[] = []
  let current: ClientRequest | undefined

  const post = async () => {
    const lines = pending.splice(0)
    if (lines.length === 0 || isSilent()) return
    for (;;) {
      const { status, retryAfterSeconds } = await send(lines)
      answers.push({ status, lines: lines.length })
      if (answers.length > MOST_ANSWERS) answers.shift()
      if (status !== 503 || ending.signal.aborted) return
      await clock.sleep(retryAfterSeconds * 1000, ending.signal)
    }
  }
  /** One request; without an answer when it is cut. */
  function send(lines: readonly string[]) {
    const body = Buffer.from(lines.join('\n'), 'latin1')
    const type = batch === 1 ? 'application/json' : 'application/x-ndjson'
    const cutAfter = takeCut()
    return new Promise<{ status: number | undefined; retryAfterSeconds: number }>((resolve) => {
      const made = request(url ?? '', {
        method: 'POST',
        agent,
        headers: { 'content-type': type, 'content-length': body.length, ...headers },
      })
      current = made
      made.on('error', () => resolve({ status: undefined, retryAfterSeconds: 0 }))
      made.on('response', (response) => {
        response.resume()
        response.on('error', () => {})
        const retryAfterSeconds = Number(response.headers['retry-after'] ?? 1)
        response.on('close', () => resolve({ status: response.statusCode, retryAfterSeconds }))
      })
      if (cutAfter === undefined) made.end(body)
      else made.write(body.subarray(0, cutAfter), () => made.destroy())
    })
  }

  const { controls, isSilent, subscribe, takeCut } = fakeSwitch<KamailioEvent>(options, {
    events: readKamailio(options.recording),
    serve(client) {
      subscribe(client, ({ text }) => Buffer.from(`${text.length}:${text},`, 'latin1'))
      return () => {}
    },
    async tell({ text }) {
      if (url === undefined) return
      pending.push(text)
      if (pending.length >= batch) await post()
    },
    settle: post,
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
