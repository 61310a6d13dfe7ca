/** One connection to the manager interface: login, a list of the open channels, events; sequence without sockets. */
import type { Mapped } from '../source/leg-news.js'
import { shown } from '../source/said.js'
import type { Protocol } from '../source/tcp-session.js'
import { amiFrames } from './ami-frames.js'
import { amiHappening, amiListed, isRead, timeOf } from './ami-happening.js'
import { type AmiMessage, amiMessage, eventOf } from './ami-message.js'
import type { Listed } from './happening.js'
import type { Mapping, Question } from './mapping.js'

/** What a session is given. */
export interface AmiSessionDoors {
  readonly username: string
  readonly secret: string
  readonly eventMask: string
  readonly mapping: Mapping
  readonly take: (mapped: Mapped) => void
  readonly write: (text: string) => void
  /** Unix milliseconds. */
  readonly nowMs: () => number
}

/** A session; `ready` resolves when the list has been compared, and rejects with why it was not. */
export interface AmiSession extends Protocol {
  readonly ready: Promise<void>
}

/** Most lines of a list. */
const MAX_LISTED = 200_000

const LOGIN = 'hookswitch-login'
const LIST = 'hookswitch-list'

export function amiSession(doors: AmiSessionDoors): AmiSession {
  const { mapping, take, nowMs } = doors
  let settleReady: { resolve: () => void; reject: (error: Error) => void } | undefined
  const ready = new Promise<void>((resolve, reject) => {
    settleReady = { resolve, reject }
  })
  // Whoever opens the session waits for it; one that is lost before must not be an unhandled rejection.
  ready.catch(() => {})
  let listing: { readonly question: Question; readonly listed: Listed[] } | undefined
  let toldOfTime = false

  const act = (action: string, id: string, ...lines: readonly string[]) =>
    doors.write(`${[`Action: ${action}`, `ActionID: ${id}`, ...lines].join('\r\n')}\r\n\r\n`)

  const answered = (message: AmiMessage): void => {
    const id = message.get('ActionID')
    const isRefused = message.get('Response') === 'Error'
    // It may say what it was sent.
    const reason = () => shown(message.get('Message') ?? 'no reason given', doors.secret)
    if (id === LOGIN) {
      if (isRefused) throw new Error(`the switch refused the login: ${reason()}`)
      listing = { question: mapping.ask(), listed: [] }
      act('CoreShowChannels', LIST)
    } else if (id === LIST && isRefused) {
      throw new Error(`the switch refused CoreShowChannels: ${reason()} (the user needs write = reporting)`)
    }
  }

  const happened = (message: AmiMessage): void => {
    if (!toldOfTime && timeOf(message) === undefined) {
      toldOfTime = true
      const said =
        'events have no Timestamp, so their arrival counts: manager.conf needs timestampevents = yes'
      take({ news: [], problems: [{ kind: 'malformed', message: said }] })
    }
    const happening = amiHappening(message, nowMs())
    if (typeof happening === 'string') {
      take({ news: [], problems: [{ kind: 'malformed', message: `${message.event}: ${happening}` }] })
    } else if (happening) {
      const mapped = mapping.map(happening)
      if (mapped.news.length > 0 || mapped.problems.length > 0) take(mapped)
    }
  }

  const isOfList = (message: AmiMessage) => listing !== undefined && message.get('ActionID') === LIST

  const listed = (message: AmiMessage): void => {
    const line = isOfList(message) ? amiListed(message) : undefined
    if (!line) return
    if (listing?.listed.push(line) === MAX_LISTED)
      throw new Error(`a list of more than ${MAX_LISTED} channels`)
  }

  const allListed = (message: AmiMessage): void => {
    if (!listing || !isOfList(message)) return
    take(mapping.compare(listing.question, listing.listed, nowMs()))
    listing = undefined
    settleReady?.resolve()
  }

  const frames = amiFrames(
    () =>
      act(
        'Login',
        LOGIN,
        `Username: ${doors.username}`,
        `Secret: ${doors.secret}`,
        `Events: ${doors.eventMask}`,
      ),
    (bytes) => {
      const event = eventOf(bytes)
      if (event === '') answered(amiMessage(bytes))
      else if (isRead(event)) happened(amiMessage(bytes))
      else if (event === 'CoreShowChannel') listed(amiMessage(bytes))
      else if (event === 'CoreShowChannelsComplete') allListed(amiMessage(bytes))
    },
  )

  return {
    ready,
    receive: (chunk) => frames.receive(chunk),
    probe: () => act('Ping', 'hookswitch-ping'),
    lost: (reason) => settleReady?.reject(new Error(reason)),
  }
}
