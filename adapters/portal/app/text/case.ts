/** What is wrong with a webhook and what happens next, as sentences made of codes and numbers. Pure. */

import type { Attempt, Webhook, WebhookHealth } from 'hookswitch/client'
import type { IconName, Role } from './looks.js'
import type { MessageKey } from './messages.js'
import type { Parameters } from './plural.js'
import { isStatus } from './statuses.js'

/** The language, the zone and the time in which the sentences are made. */
export interface CaseWords {
  readonly say: (key: MessageKey, parameters?: Parameters) => string
  /** The short text of a code of a failure. */
  readonly failure: (code: string) => string
  /** `since 12:14 today`. */
  readonly since: (ms: number) => string
  /** `14:36`, with the day if that is not today. */
  readonly at: (ms: number) => string
  /** `14:36:10`, with the day and without the seconds if that is not today. */
  readonly moment: (ms: number) => string
  /** `1 h 47 min`, after a preposition. */
  readonly span: (ms: number) => string
  readonly nowMs: number
}

/** One entry of what happens next. */
export interface Step {
  readonly icon: IconName
  readonly title: string
  readonly text: string
  /** When it happens, Unix ms. */
  readonly atMs?: number
}

/** The parts between `**` of `lead` are strong. */
export interface Case {
  readonly role: Extract<Role, 'ok' | 'bad' | 'warn' | 'off'>
  readonly icon: IconName
  readonly headline: string
  readonly lead: string
  readonly steps: readonly Step[]
}

/** What a case is about: the webhook as its document and its health say. @internal */
export interface CaseInput {
  readonly webhook: Pick<Webhook, 'uri' | 'enabled' | 'retries' | 'disable_reason' | 'health' | '_read_only'>
  readonly health: WebhookHealth
}

/** The case of a webhook that needs somebody; `undefined`: it works, or had nothing to do. */
export function caseOf(input: CaseInput, words: CaseWords): Case | undefined {
  const { webhook, health } = input
  if (!webhook.enabled) return disabledCase(input, words)
  switch (health.state) {
    case 'paused':
      return {
        ...(health.pause?.kind === 'rejected' ? BAD : { role: 'warn', icon: 'pause' }),
        headline: health.pause ? headlineOf(input, words) : askedHeadline(health, words),
        lead: leadOf(input, words),
        steps: health.pause ? pauseSteps(input, words) : askedSteps(health, words),
      }
    case 'failing':
      return {
        ...BAD,
        headline: headlineOf(input, words),
        lead: leadOf(input, words),
        steps: failingSteps(input, words),
      }
    default:
      return undefined
  }
}

const BAD = { role: 'bad', icon: 'fail' } as const

const msOf = (at: string | undefined) => (at === undefined ? undefined : Date.parse(at))

/** The answer, or the code of the failure, that decides about the sentence: of the last attempt, or of a check after it. @internal */
export function lastCauseOf({ webhook, health }: CaseInput): string | undefined {
  const { last_attempt: attempt } = health
  const { checked_at: checkedAt, check_cause: checkCause } = webhook.health
  if (checkCause !== undefined && (msOf(checkedAt) ?? 0) >= (msOf(attempt?.sent_at) ?? 0)) return checkCause
  return attempt === undefined ? undefined : causeOf(attempt)
}

/** The status of an attempt, or the code of its failure. */
export function causeOf({
  resp_status_code: status,
  cause,
  client_error: failure,
  reason,
}: Pick<Attempt, 'resp_status_code' | 'cause' | 'client_error' | 'reason'>): string | undefined {
  return status ?? cause ?? failure ?? reason?.replaceAll(' ', '_')
}

/** Host and port of a URL; the URL itself if it cannot be parsed. */
function addressOf(uri: string): { readonly host: string; readonly address: string } {
  try {
    const { hostname: host, port, protocol } = new URL(uri)
    return { host, address: `${host}:${port || (protocol === 'https:' ? '443' : '80')}` }
  } catch {
    return { host: uri, address: uri }
  }
}

/** The address alone decides about this one. */
const BLOCKED = 'blocked_address'

/** Sentences that say more than the short text of their code. */
const HEADLINES: Readonly<Record<string, MessageKey>> = {
  refused: 'case.refused',
  reset: 'case.cut',
  closed_early: 'case.cut',
  unreachable: 'case.unreachable',
  timeout_name: 'case.nameServer',
  name_server: 'case.nameServer',
  name_unknown: 'case.nameUnknown',
  timeout_connect: 'case.timeoutConnect',
  timeout_answer: 'case.timeoutAnswer',
  [BLOCKED]: 'case.blockedAddress',
  redirect: 'case.redirect',
  429: 'case.throttled',
}

/** Failures of the service, which say nothing about the receiver. */
const OWN_FAULTS = new Set(['own_fault', 'interrupted'])

function headlineOf(input: CaseInput, { say, failure, since: sinceOf }: CaseWords): string {
  const { webhook, health } = input
  const cause = lastCauseOf(input)
  const failingMs = msOf(health.failing_since)
  const since = failingMs === undefined ? '' : sinceOf(failingMs)
  if (cause === undefined || OWN_FAULTS.has(cause)) return tidy(say('case.failing', { since }))
  if (cause !== BLOCKED && isMixed(input)) {
    const what = isStatus(cause) ? say('cause.status', { status: cause }) : failure(cause)
    return tidy(say('case.cause', { since, what }))
  }
  const count = Math.max(1, Math.round((health.last_attempt?.duration_ms ?? 0) / 1_000))
  const parameters = { ...addressOf(webhook.uri), since, count }
  const key = HEADLINES[isRedirect(cause) ? 'redirect' : cause]
  if (key !== undefined) return tidy(say(key, parameters))
  return tidy(
    isStatus(cause)
      ? say('case.status', { since, status: cause })
      : say('case.cause', { since, what: failure(cause) }),
  )
}

/** Whether the failures since the first one differ from the last one, so that it is only the latest answer. */
function isMixed(input: CaseInput): boolean {
  const { last_attempt: attempt, failures_in_row: failures, same_answers: same, ...health } = input.health
  if (attempt && causeOf(attempt) !== lastCauseOf(input)) return true
  return !health.same_answers_capped && same < failures
}

const isRedirect = (cause: string) => isStatus(cause) && cause.startsWith('3')

/** Without the gap of a time that is not known. */
const tidy = (sentence: string) => sentence.replaceAll('  ', ' ').replace(' .', '.')

function askedHeadline({ paused_until: until }: WebhookHealth, { say, at }: CaseWords): string {
  return say('case.asked', { at: at(msOf(until) ?? 0) })
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** Parameters of a count of which there may be more. */
const counted = (count: number, isCapped: boolean | undefined) => ({ count, more: isCapped ? '+' : '' })

/** What waits and what was lost. */
function leadOf(input: CaseInput, words: CaseWords): string {
  const { say, since } = words
  const { pause, pending, pending_capped: isCapped, state } = input.health
  const waits = counted(pending, isCapped)
  return [
    isRedirect(lastCauseOf(input) ?? '') && say('case.redirectAdvice'),
    pause && say('case.pausedSince', { since: capital(since(Date.parse(pause.since))) }),
    pending > 0 && say(state === 'paused' ? 'case.waits' : 'case.waitsForTry', waits),
    lossOf(input.health, words),
  ]
    .filter(Boolean)
    .join(' ')
}

/** What was not delivered. */
function lossOf({ not_delivered: lost, not_delivered_capped: isCapped }: WebhookHealth, { say }: CaseWords) {
  return lost === 0 && !isCapped ? say('case.nothingLost') : say('case.lost', counted(lost, isCapped))
}

/** Failures to connect: the service connects without sending anything until that works. */
const UNCONNECTED =
  /^(refused|unreachable|connection_failed|name_|timeout_(name|connect|tls)|certificate_|tls_|not_tls)/

/** How long a receiver has to fail until it is tried less often, ms. */
const OFTEN_MS = 300_000
const OFTEN_SECONDS = 15
const RARELY_SECONDS = 60
const LEAST_SECONDS = 5

function pauseSteps(input: CaseInput, words: CaseWords): readonly Step[] {
  const { say, at, nowMs } = words
  const { health } = input
  const { max_age_seconds: maxAge } = health
  const isConnecting = health.pause?.kind === 'unavailable' && UNCONNECTED.test(lastCauseOf(input) ?? '')
  const nextMs = msOf(health.paused_until)
  const rarelyFromMs = (msOf(health.failing_since) ?? 0) + OFTEN_MS
  const isRare = nowMs >= rarelyFromMs
  const between = (most: number) => Math.max(LEAST_SECONDS, Math.min(most, maxAge))
  const rareSeconds = between(RARELY_SECONDS)
  const seconds = isRare ? rareSeconds : between(OFTEN_SECONDS)
  const probe = health.pending === 0 ? 'next.probeNone' : 'next.probe'
  return [
    ...dated(nextMs, 'wait', say(isConnecting ? 'next.connect' : probe), words, say('next.now')),
    {
      icon: 'replay',
      title:
        seconds === RARELY_SECONDS ? say('next.everyMinute') : say('next.everySeconds', { count: seconds }),
      text:
        seconds === rareSeconds
          ? say('next.oneAtATime')
          : say(rareSeconds === RARELY_SECONDS ? 'next.rarelyFrom' : 'next.rarelyFromSeconds', {
              at: at(rarelyFromMs),
              count: rareSeconds,
            }),
    },
    ...lastSteps(health, words),
  ]
}

function askedSteps(health: WebhookHealth, words: CaseWords): readonly Step[] {
  return [
    ...dated(msOf(health.paused_until), 'wait', words.say('next.afterAsked'), words, words.say('next.now')),
    ...lastSteps(health, words),
  ]
}

function failingSteps({ webhook, health }: CaseInput, words: CaseWords): readonly Step[] {
  const { say } = words
  const { retries } = webhook
  return [
    ...(health.pending > 0
      ? dated(msOf(health.oldest_due_at), 'wait', say('next.try'), words, say('next.now'))
      : []),
    {
      icon: 'replay',
      title: say('next.rejected'),
      text: retries === 0 ? say('next.noRetries') : say('next.retries', { count: retries }),
    },
    // An event that is rejected is given up before it is too old.
    ...lastSteps(health, words, false),
  ]
}

/** A step at a time; what should have happened by now has the title `now`. */
function dated(
  atMs: number | undefined,
  icon: IconName,
  text: string,
  { moment, nowMs }: CaseWords,
  now: string,
): readonly Step[] {
  if (atMs === undefined) return []
  return [atMs > nowMs ? { icon, title: moment(atMs), text, atMs } : { icon, title: now, text }]
}

/**
 * When something is lost, and when the webhook is switched off.
 *
 * @param isKept whether nothing else than its age ends what waits
 */
function lastSteps(health: WebhookHealth, { say, at, nowMs }: CaseWords, isKept = true): readonly Step[] {
  const { oldest_expires_at: expiresAt, auto_disable_at: disableAt, not_delivered: lost } = health
  const step = (icon: IconName, atMs: number | undefined, text: string) =>
    atMs === undefined || atMs <= nowMs ? [] : [{ icon, title: at(atMs), text, atMs }]
  return [
    ...step('old', msOf(expiresAt), say(lost > 0 || !isKept ? 'next.tooOldMore' : 'next.tooOld')),
    ...step('off', msOf(disableAt), say('next.switchOff')),
  ]
}

function disabledCase({ webhook, health }: CaseInput, words: CaseWords): Case {
  const { say, since: sinceOf } = words
  const { disable_reason: reason } = webhook
  const disabledMs = msOf(health.disabled_at)
  const since = disabledMs === undefined ? '' : sinceOf(disabledMs)
  const key =
    reason === undefined ? 'case.disabled' : reason === 'gone' ? 'case.disabledGone' : 'case.disabledByUs'
  const { not_delivered: lost, not_delivered_capped: isCapped } = health
  return {
    role: 'off',
    icon: 'off',
    headline: tidy(say(key, { since })),
    lead: lost > 0 ? say('case.lost', counted(lost, isCapped)) : '',
    steps: [
      { icon: 'off', title: say('next.whileOff'), text: say('next.whileOffText') },
      { icon: 'send', title: say('next.whenOn'), text: say('next.whenOnText') },
    ],
  }
}

/** The test that was answered with 2xx. */
export interface AnsweredTest {
  readonly attempt: Attempt
  /** Whether the webhook failed or was paused before. */
  readonly wasBroken: boolean
}

/** The case after a test that arrived. */
export function mendedCase({ webhook, health }: CaseInput, test: AnsweredTest, words: CaseWords): Case {
  const { say, span, nowMs } = words
  const { attempt, wasBroken } = test
  const { pending, pending_capped: isCapped, oldest_accepted_at: oldestAt, not_delivered: lost } = health
  const answer = { status: attempt.resp_status_code ?? '', took: span(attempt.duration_ms ?? 0) }
  const oldestMs = msOf(oldestAt)
  const waits = counted(pending, isCapped)
  const isLosing = lost > 0
  return {
    role: 'ok',
    icon: 'ok',
    headline: say(wasBroken ? 'case.mended' : 'case.answers', answer),
    lead: [
      say('case.testArrived'),
      !webhook.enabled && say('case.stillOff'),
      webhook.enabled && wasBroken && pending === 0 && say('case.nothingWaits'),
      webhook.enabled &&
        pending > 0 &&
        (oldestMs === undefined
          ? say('case.leaving', waits)
          : say('case.leavingOldest', { ...waits, span: span(nowMs - oldestMs) })),
    ]
      .filter(Boolean)
      .join(' '),
    steps: [
      ...(webhook.enabled && pending > 0
        ? [{ icon: 'send', title: say('next.now'), text: say('next.leaving') } as const]
        : []),
      ...(isLosing
        ? [
            {
              icon: 'replay',
              title: say('next.lostStay', counted(lost, health.not_delivered_capped)),
              text: say('next.lostStayText'),
            } as const,
          ]
        : []),
      ...(webhook.enabled
        ? []
        : [{ icon: 'send', title: say('next.whenOn'), text: say('next.whenOnText') } as const]),
    ],
  }
}
