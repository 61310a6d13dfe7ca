import { describe, expect, it } from 'vitest'
import { laneKey } from '../../../src/delivery/lane-key.js'
import { applyEndpointChange, applyReplacement } from '../../../src/store/engine/endpoint-change.js'
import {
  ERASURE_STEPS,
  erasedCallsOf,
  hasStep,
  isCovered,
  isDeliveryCovered,
} from '../../../src/store/engine/erasure.js'
import { compareInLane, laneKindOf, laneName } from '../../../src/store/engine/lanes.js'
import { linkedLeg } from '../../../src/store/engine/legs.js'
import { dueMsForReaders } from '../../../src/store/engine/readers.js'
import { newWebhook } from '../../../src/testkit/conformance/sample-data.js'
import { resumeWebhook } from '../../../src/webhooks/webhook.js'

describe('applyEndpointChange', () => {
  const webhook = newWebhook({ epoch: 2, revision: 5, health: { failuresInRow: 1 } })

  it('sets, keeps and clears the health, without a new revision', () => {
    const health = { failuresInRow: 2 }
    expect(applyEndpointChange(webhook, { epoch: 2, health })).toEqual({ ...webhook, health })
    const { health: _none, ...clean } = webhook
    expect(applyEndpointChange(webhook, { epoch: 2, health: null })).toEqual(clean)
    expect(applyEndpointChange(webhook, { epoch: 2 })).toBe(webhook)
    expect(applyEndpointChange(webhook, undefined)).toBe(webhook)
  })

  it('disables once, with a new revision and epoch', () => {
    const disable = { reason: 'too many', atMs: 9 }
    const disabled = applyEndpointChange(webhook, { epoch: 2, disable })
    expect(disabled).toMatchObject({ epoch: 3, revision: 6, disableReason: 'too many', disabledMs: 9 })
    expect(disabled.settings.enabled).toBe(false)
    expect(applyEndpointChange(disabled, { epoch: 3, disable })).toBe(disabled)
  })

  it('ignores the change of another epoch', () => {
    const change = { epoch: 1, health: null, disable: { reason: 'late', atMs: 9 } }
    expect(applyEndpointChange(webhook, change)).toBe(webhook)
  })
})

describe('applyReplacement of a webhook that is resumed', () => {
  const failing = { failuresInRow: 3, openings: 1 }
  const stored = newWebhook({ revision: 4, health: { ...failing, pausedUntilMs: 9 } })

  it('ends the pause and keeps the rest, whatever health the row has', () => {
    const resumed = resumeWebhook({ ...stored, health: { failuresInRow: 99 } })
    expect(resumed).toMatchObject({ revision: 5, resumedRevision: 5, modifiedMs: stored.modifiedMs })
    expect(applyReplacement(stored, resumed)).toEqual({ ...resumed, health: failing })
  })

  it('leaves no health of a pause without failures', () => {
    const paused = { ...stored, health: { failuresInRow: 0, pausedUntilMs: 9 } }
    expect(applyReplacement(paused, resumeWebhook(paused))).not.toHaveProperty('health')
  })

  it('does not end the next pause with a later change', () => {
    const resumed = { ...resumeWebhook(stored), health: stored.health! }
    const renamed = { ...resumed, settings: { ...resumed.settings, name: 'n' }, revision: 6 }
    expect(applyReplacement(resumed, renamed).health).toEqual(stored.health)
  })
})

describe('applyReplacement', () => {
  const health = { failuresInRow: 1 }
  const stored = newWebhook({ health })

  it('keeps the stored health and ignores that of the new row', () => {
    const next = { ...stored, revision: 2, health: { failuresInRow: 9 } }
    expect(applyReplacement(stored, next)).toEqual({ ...next, health })
    const { health: _none, ...healthy } = stored
    expect(applyReplacement(healthy, next)).toEqual({ ...healthy, revision: 2 })
  })

  it('clears it for another address, and when the webhook becomes enabled', () => {
    const moved = { ...stored, settings: { ...stored.settings, uri: 'https://new.example.com/' } }
    expect(applyReplacement(stored, moved)).not.toHaveProperty('health')
    const disabled = { ...stored, settings: { ...stored.settings, enabled: false } }
    expect(applyReplacement(disabled, stored)).not.toHaveProperty('health')
  })
})

describe('lanes', () => {
  const delivery = { id: 'd', eventAccountId: 'acme', callId: 'c' }

  it('are rebuilt from their kind', () => {
    const rebuilt = (lane: string) => laneName(laneKindOf(lane), laneKey(lane), delivery)
    expect(['-/d', 'acme/c', 'test/d'].map(rebuilt)).toEqual(['-/d', 'acme/c', 'test/d'])
    expect(rebuilt('replay/x')).toBe(`replay/${laneKey('replay/x')}`)
    expect(laneName(1, 1, { id: 'd', eventAccountId: 'acme' })).toBe('acme/')
    // A delivery that a store returns is in the lane in which it loads others.
    for (const lane of [
      '-/d',
      'acme/c',
      'test/d',
      'replay/x',
      'replay/job/acme/c',
      `replay/${'1'.repeat(32)}`,
    ])
      expect(laneKey(rebuilt(lane))).toBe(laneKey(lane))
  })

  it('have stable kinds: stores persist them', () => {
    expect(['-/d', 'acme/c', 'replay/x', 'test/d'].map(laneKindOf)).toEqual([0, 1, 2, 3])
  })

  it('are ordered by number, then position; deliveries without a number come first', () => {
    const places = [
      { sequence: 2, position: 1 },
      { sequence: 0, position: 9 },
      { sequence: 1, position: 5 },
      { sequence: 2, position: 0 },
      { sequence: 0, position: 7 },
    ]
    expect([...places].sort(compareInLane)).toEqual([places[4], places[1], places[2], places[3], places[0]])
  })
})

describe('erasure', () => {
  const all = { accountId: 'acme' }
  const some = { accountId: 'acme', callIds: ['a'] }

  it('raises versions first and deletes webhooks last, only with the whole account', () => {
    expect(ERASURE_STEPS[0]).toBe('version')
    expect(ERASURE_STEPS.at(-1)).toBe('deletedWebhooks')
    expect(ERASURE_STEPS.filter((step) => !hasStep(some, step))).toEqual(['deletedWebhooks'])
    expect(ERASURE_STEPS.every((step) => hasStep(all, step))).toBe(true)
  })

  it('covers named calls, or everything', () => {
    expect(['a', 'b', undefined].map((callId) => isCovered(erasedCallsOf(some), callId))).toEqual([
      true,
      false,
      false,
    ])
    expect(['a', undefined].map((callId) => isCovered(erasedCallsOf(all), callId))).toEqual([true, true])
  })

  it('covers deliveries of the account’s events and to its webhooks', () => {
    const of = (accountId: string, eventAccountId: string, callId = 'a') =>
      isDeliveryCovered(erasedCallsOf(some), { accountId, eventAccountId, callId })
    expect([of('acme', 'child'), of('parent', 'acme'), of('parent', 'child')]).toEqual([true, true, false])
    expect(of('acme', 'acme', 'b')).toBe(false)
  })
})

it('linkedLeg is the other leg of a call, not the call itself', () => {
  expect(linkedLeg('a', 'b')).toBe('b')
  expect(linkedLeg('a', 'a')).toBeUndefined()
  expect(linkedLeg('a', undefined)).toBeUndefined()
  expect(linkedLeg(undefined, 'b')).toBeUndefined()
})

it('only the head of a lane is due: at its retry, or since its acceptance', () => {
  expect(dueMsForReaders(0, 5, 0)).toBe(5)
  expect(dueMsForReaders(9, 5, 0)).toBe(9)
  expect(dueMsForReaders(9, 5, 1)).toBeUndefined()
})
