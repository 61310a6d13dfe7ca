/** What the page says about a webhook that needs somebody, in both languages. */
import type { Attempt, Webhook, WebhookHealth } from 'hookswitch/client'
import { describe, expect, it } from 'vitest'
import de from '../../../adapters/portal/app/locales/de.json'
import en from '../../../adapters/portal/app/locales/en.json'
import {
  type CaseInput,
  type CaseWords,
  caseOf,
  lastCauseOf,
  mendedCase,
} from '../../../adapters/portal/app/text/case.js'
import { formatMessage, type Messages } from '../../../adapters/portal/app/text/plural.js'
import { dayTime, isSameDay, minuteTime, shortDate, span } from '../../../adapters/portal/app/text/times.js'
import { FAILURE_CAUSES } from '../../../src/values/failure-cause.js'

const NOW = Date.UTC(2026, 10, 28, 14, 32, 29)
const at = (time: string) => `2026-11-28T${time}.000Z`

function words(language: 'en' | 'de', nowMs = NOW): CaseWords {
  const messages: Messages = language === 'en' ? en : de
  const say: CaseWords['say'] = (key, parameters) => formatMessage(messages, language, key, parameters)
  return {
    say,
    failure: (code) => messages[`failure.${code}`] ?? messages[`cause.${code}`] ?? code,
    since(ms) {
      const time = minuteTime(ms, 'utc')
      if (isSameDay(ms, nowMs, 'utc')) return say('time.sinceToday', { time })
      return say('time.sinceDay', { day: shortDate(ms, nowMs, 'utc', language), time })
    },
    at: (ms) => dayTime(ms, nowMs, 'utc', language),
    moment: (ms) => `${dayTime(ms, nowMs, 'utc', language)}, exactly`,
    span: (ms) => span(ms, (unit, count) => say(`unit.${unit}`, { count })),
    nowMs,
  }
}

const attempt = (fields: Partial<Attempt>) =>
  ({ sent_at: at('14:31:52'), result: 'failure', duration_ms: 812, ...fields }) as Attempt

interface Given {
  readonly webhook?: object
  readonly health?: Partial<WebhookHealth>
  readonly attempt?: Partial<Attempt>
}

const input = ({ webhook, health, attempt: fields = { resp_status_code: '503' } }: Given): CaseInput => ({
  webhook: {
    uri: 'https://crm.example/hooks',
    enabled: true,
    retries: 5,
    health: {},
    ...webhook,
  } as unknown as Webhook,
  health: {
    state: 'failing',
    failing_since: at('12:14:00'),
    pending: 0,
    pending_capped: false,
    not_delivered: 0,
    not_delivered_capped: false,
    max_age_seconds: 86_400,
    last_attempt: attempt(fields),
    ...health,
  } as WebhookHealth,
})

const PAUSED = {
  state: 'paused',
  pause: { kind: 'unavailable', since: at('12:45:00'), probes: 40 },
  paused_until: at('14:33:10'),
  pending: 1_284,
  oldest_expires_at: '2026-11-29T12:45:00.000Z',
} satisfies Partial<WebhookHealth>

const bothHeadlines = (given: Given) =>
  (['en', 'de'] as const).map((language) => caseOf(input(given), words(language))?.headline)

describe('the headline of a case', () => {
  it('has the status and the time, of today or of another day', () => {
    expect(bothHeadlines({})).toEqual([
      'Your server has answered 503 since 12:14 today.',
      'Ihr Server antwortet seit heute 12:14 mit 503.',
    ])
    expect(bothHeadlines({ health: { failing_since: '2026-11-26T09:05:00.000Z' } })).toEqual([
      'Your server has answered 503 since Thu 26 Nov 09:05.',
      'Ihr Server antwortet seit Do., 26. Nov. 09:05 mit 503.',
    ])
  })

  it('names the server that cannot be reached, with its port', () => {
    expect(bothHeadlines({ attempt: { cause: 'refused', client_error: 'connection' } })).toEqual([
      'Nothing has accepted connections at crm.example:443 since 12:14 today.',
      'Unter crm.example:443 nimmt seit heute 12:14 nichts Verbindungen an.',
    ])
    const uri = 'http://[2001:db8::1]:8080/in'
    expect(bothHeadlines({ webhook: { uri }, attempt: { cause: 'refused' } })[0]).toBe(
      'Nothing has accepted connections at [2001:db8::1]:8080 since 12:14 today.',
    )
    expect(bothHeadlines({ attempt: { cause: 'name_unknown' } })).toEqual([
      'The name crm.example has not been found since 12:14 today.',
      'Der Name crm.example wird seit heute 12:14 nicht gefunden.',
    ])
  })

  it('says how long was waited for an answer', () => {
    expect(bothHeadlines({ attempt: { cause: 'timeout_answer', duration_ms: 10_004 } })).toEqual([
      'Your server has not answered within 10 seconds since 12:14 today.',
      'Ihr Server antwortet seit heute 12:14 nicht innerhalb von 10 Sekunden.',
    ])
    expect(bothHeadlines({ attempt: { cause: 'timeout_answer', duration_ms: 900 } })).toEqual([
      'Your server has not answered within 1 second since 12:14 today.',
      'Ihr Server antwortet seit heute 12:14 nicht innerhalb von 1 Sekunde.',
    ])
  })

  it('gives the remedy of a redirect, and knows throttling and private addresses', () => {
    const redirect = caseOf(input({ attempt: { resp_status_code: '308' } }), words('en'))!
    expect(redirect.headline).toBe('Your server has redirected us to another address since 12:14 today.')
    expect(redirect.lead).toMatch(/^We do not follow. Use the new address./)
    expect(bothHeadlines({ attempt: { resp_status_code: '429' } })[0]).toBe(
      'Your server has asked for fewer requests since 12:14 today.',
    )
    expect(bothHeadlines({ attempt: { cause: 'blocked_address' } })[1]).toBe(
      'Diese Adresse liegt in einem privaten Netz. Wir erreichen nur Server im Internet.',
    )
  })

  it('names the last answer alone where earlier ones were others: it says nothing about the time before', () => {
    const mixed = { health: { failures_in_row: 15, same_answers: 3, same_answers_capped: false } }
    expect(bothHeadlines(mixed)).toEqual([
      'Answered 503: nothing has arrived since 12:14 today.',
      'Antwort 503: seit heute 12:14 kommt nichts an.',
    ])
    expect(bothHeadlines({ ...mixed, attempt: { cause: 'refused' } })[0]).toBe(
      'Connection refused: nothing has arrived since 12:14 today.',
    )
    expect(bothHeadlines({ ...mixed, attempt: { cause: 'blocked_address' } })[0]).toMatch(/^This address/)
    const capped = { health: { failures_in_row: 150, same_answers: 100, same_answers_capped: true } }
    expect(bothHeadlines(capped)[0]).toBe('Your server has answered 503 since 12:14 today.')
  })

  it('exists in both languages for every cause, without a gap and without a code', () => {
    for (const cause of Object.keys(FAILURE_CAUSES)) {
      for (const headline of bothHeadlines({ attempt: { cause, client_error: 'tls' } })) {
        expect(headline, cause).toMatch(/^[A-Zc].*[^ ]\.$/)
        expect(headline, cause).not.toMatch(/_| {2}|\{|undefined/)
      }
    }
  })

  it('blames nobody for failures of the service, and is whole where no time and no attempt are known', () => {
    const sentence = 'Nothing has arrived at your server since 12:14 today.'
    expect(bothHeadlines({ attempt: { client_error: 'own_fault' } })[0]).toBe(sentence)
    expect(bothHeadlines({ attempt: { reason: 'interrupted' } })[0]).toBe(sentence)
    const { failing_since: _, last_attempt: __, ...health } = input({}).health
    const unknown = { ...input({}), health: health as WebhookHealth }
    expect(caseOf(unknown, words('en'))!.headline).toBe('Nothing has arrived at your server.')
    expect(caseOf(unknown, words('de'))!.headline).toBe('Bei Ihrem Server kommt nichts an.')
  })

  it('goes by a later check that could not connect', () => {
    const checked = { checked_at: at('14:32:00'), check_cause: 'certificate_expired' }
    const given = { webhook: { health: checked } }
    expect(lastCauseOf(input(given))).toBe('certificate_expired')
    expect(bothHeadlines(given)).toEqual([
      'Certificate expired: nothing has arrived since 12:14 today.',
      'Zertifikat abgelaufen: seit heute 12:14 kommt nichts an.',
    ])
    const earlier = { ...checked, checked_at: at('14:00:00') }
    expect(lastCauseOf(input({ webhook: { health: earlier } }))).toBe('503')
  })
})

describe('a webhook that is paused', () => {
  it('waits: what waits is kept, and the next tries are known', () => {
    const found = caseOf(input({ health: PAUSED }), words('en'))!
    expect([found.role, found.icon]).toEqual(['warn', 'pause'])
    expect(found.lead).toBe(
      'Since 12:45 today nothing has got through, so we only try one request at a time. **1,284 events wait**; they are sent by themselves when your server takes events again. Nothing is lost so far.',
    )
    expect(found.steps).toEqual([
      {
        icon: 'wait',
        title: '14:33, exactly',
        atMs: Date.parse(at('14:33:10')),
        text: 'We send one waiting event. If your server takes it, the others follow at once, oldest first.',
      },
      {
        icon: 'replay',
        title: 'Then about every minute',
        text: 'One event at a time, until your server takes one. These tries do not count.',
      },
      {
        icon: 'old',
        title: 'Sun 29 Nov 12:45',
        atMs: Date.parse('2026-11-29T12:45:00.000Z'),
        text: 'The oldest event that waits becomes too old to send. Until then nothing is lost.',
      },
    ])
  })

  it('says the same in German, with the numbers and plurals of the language', () => {
    const found = caseOf(
      input({ health: { ...PAUSED, not_delivered: 1_000, not_delivered_capped: true } }),
      words('de'),
    )!
    expect(found.lead).toBe(
      'Seit heute 12:45 kommt nichts mehr durch. Wir senden deshalb nur einzelne Versuche. **1.284 Ereignisse warten**; sie werden von selbst gesendet, sobald Ihr Server wieder Ereignisse annimmt. **1.000+ Ereignisse sind nicht angekommen**; Sie können sie erneut senden.',
    )
    expect(found.steps.map(({ title }) => title)).toEqual([
      '14:33, exactly',
      'Dann etwa jede Minute',
      'So., 29. Nov. 12:45',
    ])
    expect(found.steps.at(-1)!.text).toBe('Das älteste wartende Ereignis wird zu alt zum Senden.')
    const { lead } = caseOf(input({ health: { ...PAUSED, pending: 1, not_delivered: 1 } }), words('de'))!
    expect(lead).toContain('**1 Ereignis wartet**; es wird')
    expect(lead).toContain('**1 Ereignis ist nicht angekommen**; Sie können es')
  })

  it('connects first where the server cannot be reached', () => {
    const { steps } = caseOf(input({ health: PAUSED, attempt: { cause: 'refused' } }), words('en'))!
    expect(steps[0]!.text).toMatch(/^We try to connect\./)
    const rejected = { ...PAUSED, pause: { kind: 'rejected', since: PAUSED.pause.since, probes: 2 } } as const
    const found = caseOf(input({ health: rejected, attempt: { cause: 'refused' } }), words('en'))!
    expect(found.steps[0]!.text).toMatch(/^We send one waiting event\./)
    expect(found.role).toBe('bad')
  })

  it('promises no waiting event where none waits', () => {
    const { steps } = caseOf(input({ health: { ...PAUSED, pending: 0 } }), words('en'))!
    expect(steps[0]!.text).toBe('Nothing waits. We send the next event that comes, as a try.')
  })

  it('is tried more often in the first five minutes, and as often as its events may age', () => {
    const early = words('en', Date.parse(at('12:17:00')))
    const soon = { ...PAUSED, paused_until: at('12:17:09') }
    expect(caseOf(input({ health: soon }), early)!.steps[1]).toEqual({
      icon: 'replay',
      title: 'Then about every 15 seconds',
      text: 'From 12:19 on about every minute, until your server takes an event. These tries do not count.',
    })
    const short = { ...PAUSED, max_age_seconds: 20 }
    expect(caseOf(input({ health: { ...soon, max_age_seconds: 20 } }), early)!.steps[1]).toEqual({
      icon: 'replay',
      title: 'Then about every 15 seconds',
      text: 'From 12:19 on about every 20 seconds, until your server takes an event. These tries do not count.',
    })
    expect(caseOf(input({ health: short }), words('en'))!.steps[1]!.title).toBe('Then about every 20 seconds')
    expect(caseOf(input({ health: { ...short, max_age_seconds: 1 } }), early)!.steps[1]).toMatchObject({
      title: 'Then about every 5 seconds',
      text: 'One event at a time, until your server takes one. These tries do not count.',
    })
  })

  it('shows a try that should have begun by now as one of now', () => {
    const { steps } = caseOf(input({ health: { ...PAUSED, paused_until: at('14:32:00') } }), words('en'))!
    expect(steps[0]).toMatchObject({ title: 'Now' })
    expect(steps[0]).not.toHaveProperty('atMs')
  })

  it('says when the server asked for the pause', () => {
    const { pause: _, ...asked } = PAUSED
    const found = caseOf(input({ health: asked, attempt: { resp_status_code: '429' } }), words('de'))!
    expect(found.headline).toBe('Ihr Server bittet uns, bis 14:33 zu warten.')
    expect([found.role, found.steps[0]!.icon]).toEqual(['warn', 'wait'])
  })
})

describe('a webhook that fails', () => {
  it('does not promise that nothing is lost before it is too old', () => {
    const health = { pending: 3, oldest_expires_at: '2026-11-29T12:45:00.000Z' }
    const { steps } = caseOf(input({ health, attempt: { resp_status_code: '404' } }), words('en'))!
    expect(steps.at(-1)!.text).toBe('The oldest event that waits becomes too old to send.')
  })

  it('says what was lost, and how often an event is sent', () => {
    const health = { pending: 3, oldest_due_at: at('14:34:00'), not_delivered: 212 }
    const found = caseOf(input({ health, attempt: { resp_status_code: '404' } }), words('en'))!
    expect(found.role).toBe('bad')
    expect(found.lead).toBe(
      '**3 events wait** for their next try. **212 events were not delivered**; you can replay them.',
    )
    expect(found.steps.map(({ title, text }) => `${title}: ${text}`)).toEqual([
      '14:34, exactly: We try the next event that waits.',
      'If your server rejects an event: It is sent at most 5 times more. Then it is not delivered, and you can replay it.',
    ])
  })

  it.each([
    [0, 'It is not sent again, as this webhook has no retries. You can replay it.'],
    [1, 'It is sent at most once more. Then it is not delivered, and you can replay it.'],
  ])('with %i retries', (retries, text) => {
    expect(caseOf(input({ webhook: { retries } }), words('en'))!.steps.at(-1)!.text).toBe(text)
  })

  it('names the day on which it is switched off', () => {
    const auto_disable_at = '2026-12-03T12:14:00.000Z'
    const found = caseOf(input({ health: { auto_disable_at } }), words('de'))!
    expect(found.steps.at(-1)).toMatchObject({ icon: 'off', title: 'Do., 3. Dez. 12:14' })
    expect(found.lead).toBe('Bisher ist nichts verloren.')
    expect(caseOf(input({ health: { auto_disable_at: at('14:00:00') } }), words('de'))!.steps).toHaveLength(1)
  })
})

describe('a webhook that is switched off', () => {
  it('says by whom', () => {
    const off = (disable_reason?: string) =>
      bothHeadlines({
        webhook: { enabled: false, ...(disable_reason && { disable_reason }) },
        health: { state: 'disabled', disabled_at: at('14:00:00') },
      })
    expect(off()[0]).toBe('This webhook has been switched off since 14:00 today.')
    expect(off('gone')[1]).toBe('Ausgeschaltet seit heute 14:00: Ihr Server antwortete mit 410 Gone.')
    expect(off('too many failed attempts')[0]).toBe(
      'Switched off by us since 14:00 today: too many tries failed.',
    )
  })
})

describe('a webhook that works', () => {
  it('has no case', () => {
    for (const state of ['ok', 'idle'] as const)
      expect(caseOf(input({ health: { state } }), words('en'))).toBeUndefined()
  })
})

describe('a test that arrived', () => {
  const arrived = attempt({ result: 'success', resp_status_code: '204', duration_ms: 61 })
  const mended = (given: Given, language: 'en' | 'de', wasBroken = true) =>
    mendedCase(input(given), { attempt: arrived, wasBroken }, words(language))

  it('says that the server answers again, what is being sent and what stays', () => {
    const health = {
      state: 'ok',
      pending: 1_284,
      oldest_accepted_at: at('12:45:00'),
      not_delivered: 212,
    } as const
    const found = mended({ health }, 'en')
    expect(found.headline).toBe('Your server answers again: 204 after 61 ms.')
    expect(found.lead).toBe(
      'The test has arrived. **1,284 events wait**, the oldest for 1 h 47 min. They are being sent.',
    )
    expect(found.steps.map(({ title }) => title)).toEqual(['Now', 'The 212 not delivered stay as they are'])
    expect(mended({ health: { state: 'ok', pending: 0 } }, 'de').lead).toBe(
      'Der Test ist angekommen. Es wartet nichts mehr.',
    )
  })

  it('says what is left to do where the webhook is switched off, and no more than is true where it never failed', () => {
    const off = mended({ webhook: { enabled: false }, health: { state: 'disabled' } }, 'de', false)
    expect(off.headline).toBe('Ihr Server antwortet: 204 nach 61 ms.')
    expect(off.lead).toBe('Der Test ist angekommen. Der Webhook ist noch ausgeschaltet.')
    expect(mended({ health: { state: 'ok' } }, 'en', false).lead).toBe('The test has arrived.')
  })
})
