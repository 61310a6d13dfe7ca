import { describe, expect, it } from 'vitest'
import { createOutageDetector, type OutageChange } from '../../../src/delivery/worker/outage-detector.js'
import type { Dialled, Observation } from '../../../src/ports.js'
import { responseWith } from '../harness.js'

const timeout: Observation = { kind: 'no_response', failure: 'timeout', detail: '' }
const unresolved: Observation = { kind: 'no_response', failure: 'dns', detail: '' }
const noNameServer: Observation = { kind: 'own_fault', detail: 'DNS: timeout' }
const url = (origin: number, path = '/') => `https://${origin}.example.com${path}`

/** A detector, with what it reported. */
function createHarness() {
  const changes: OutageChange[] = []
  const detector = createOutageDetector((change) => changes.push(change))
  return {
    changes,
    isOutage: detector.isOutage,
    outages: detector.outages,
    /** Records the result of an attempt; returns the network that it counts for. */
    observe(uri: string, observation: Observation, now: number, dialled?: Dialled) {
      const network = detector.networkOf(uri, observation, dialled)
      if (network) detector.observe(uri, observation, network, now)
      return network
    },
  }
}

describe('the outage detector', () => {
  it('detects an outage when five origins were tried within a minute and none answered', () => {
    const { observe, isOutage, changes } = createHarness()
    for (let origin = 0; origin < 4; origin++) observe(url(origin), timeout, origin)
    observe(url(0, '/other'), timeout, 4)
    expect(isOutage('public', 4)).toBe(false)
    expect(changes).toEqual([])
    observe(url(4), timeout, 5)
    expect(changes).toEqual([{ kind: 'began', network: 'public', origins: 5 }])
    expect(isOutage('public', 5)).toBe(true)
    expect(isOutage('public', 59_999)).toBe(true)
    expect(changes).toHaveLength(1)
  })

  it('detects none when one of them was tried more than a minute before the others', () => {
    const { observe, isOutage } = createHarness()
    for (let origin = 0; origin < 4; origin++) observe(url(origin), timeout, origin)
    observe(url(4), timeout, 60_005)
    expect(isOutage('public', 60_005)).toBe(false)
  })

  it('holds an outage for twelve minutes or until an origin answers, even if fewer origins are tried', () => {
    const { observe, isOutage, outages, changes } = createHarness()
    for (let origin = 0; origin < 5; origin++) observe(url(origin), timeout, 0)
    expect(isOutage('public', 10)).toBe(true)
    expect(outages(20)).toEqual([{ network: 'public', sinceMs: 0 }])
    expect(isOutage('public', 720_000)).toBe(true)
    observe(url(0), timeout, 700_000)
    expect(isOutage('public', 720_021)).toBe(false)
    expect(changes.slice(1)).toEqual([
      { kind: 'ended', network: 'public', durationMs: 720_021, hasAnswer: false },
    ])
    for (let origin = 0; origin < 5; origin++) observe(url(origin), timeout, 800_000 + origin)
    expect(isOutage('public', 800_004)).toBe(true)
    observe(url(7), responseWith(404), 860_000)
    expect(isOutage('public', 860_000)).toBe(false)
    expect(outages(860_000)).toEqual([])
    expect(changes.slice(2)).toEqual([
      { kind: 'began', network: 'public', origins: 5 },
      { kind: 'ended', network: 'public', durationMs: 60_000, hasAnswer: true },
    ])
  })

  it('reports the end of an outage of which nothing was heard any more to whoever looks', () => {
    const { observe, outages, changes } = createHarness()
    for (let origin = 0; origin < 5; origin++) observe(url(origin), timeout, 0)
    expect(outages(720_000)).toEqual([])
    expect(changes.at(-1)).toEqual({
      kind: 'ended',
      network: 'public',
      durationMs: 720_000,
      hasAnswer: false,
    })
  })

  it('detects none while any origin answers HTTP, whatever the status', () => {
    const { observe, isOutage } = createHarness()
    for (let origin = 0; origin < 4; origin++) observe(url(origin), timeout, origin)
    observe(url(0), responseWith(500), 10)
    for (let origin = 0; origin < 9; origin++) observe(url(origin), timeout, 20)
    expect(isOutage('public', 20)).toBe(false)
    for (let origin = 0; origin < 9; origin++) observe(url(origin), timeout, 60_010)
    expect(isOutage('public', 60_010)).toBe(true)
  })

  it('counts origins by their network: an internal receiver that answers does not hide an outage', () => {
    for (const internal of ['private', 'loopback'] as const) {
      const { observe, isOutage, outages } = createHarness()
      for (let origin = 0; origin < 5; origin++) {
        observe('http://10.0.0.1/', responseWith(200), origin, internal)
        observe(url(origin), timeout, origin, 'public')
      }
      observe('http://10.0.0.1/', responseWith(200), 5, internal)
      expect(isOutage('public', 5)).toBe(true)
      expect(isOutage(internal, 5)).toBe(false)
      expect(outages(5)).toEqual([{ network: 'public', sinceMs: 0 }])
    }
  })

  it('detects an outage of an internal network while the internet answers, and both at once', () => {
    const { observe, outages, changes } = createHarness()
    for (let origin = 0; origin < 5; origin++) observe(`http://10.0.0.${origin}/`, timeout, origin, 'private')
    observe(url(0), responseWith(200), 5, 'public')
    expect(outages(5)).toEqual([{ network: 'private', sinceMs: 0 }])
    for (let origin = 0; origin < 5; origin++) observe(url(origin), timeout, 70_000, 'public')
    expect(outages(70_000).map(({ network }) => network)).toEqual(['public', 'private'])
    observe('http://10.0.0.9/', responseWith(503), 70_001, 'private')
    expect(outages(70_001).map(({ network }) => network)).toEqual(['public'])
    expect(changes.map(({ kind, network }) => `${network} ${kind}`)).toEqual([
      'private began',
      'public began',
      'private ended',
    ])
  })

  it('makes no outage of origins of several networks', () => {
    const { observe, outages } = createHarness()
    for (let origin = 0; origin < 4; origin++) {
      observe(url(origin), timeout, origin, 'public')
      observe(`http://10.0.0.${origin}/`, timeout, origin, 'private')
      observe(`http://127.0.0.${origin}/`, timeout, origin, 'loopback')
    }
    expect(outages(4)).toEqual([])
  })

  it('counts names that do not resolve for the internet, unless they led elsewhere before', () => {
    const { observe, outages } = createHarness()
    expect(observe('https://pbx.corp.example/', responseWith(200), 0, 'private')).toBe('private')
    for (const [failure, uri] of [
      [unresolved, 'https://pbx.corp.example/'],
      [noNameServer, 'https://pbx.corp.example/'],
      [timeout, 'https://pbx.corp.example/'],
    ] as const)
      expect(observe(uri, failure, 1, 'unresolved')).toBe('private')
    for (let origin = 0; origin < 5; origin++)
      expect(observe(url(origin), origin % 2 ? unresolved : noNameServer, 2, 'unresolved')).toBe('public')
    expect(outages(2)).toEqual([{ network: 'public', sinceMs: 2 }])
    expect(observe('https://pbx.corp.example/', responseWith(200), 3, 'public')).toBe('public')
    expect(observe('https://pbx.corp.example/', unresolved, 4, 'unresolved')).toBe('public')
  })

  it('remembers at most 1,000 internal URIs', () => {
    const { observe } = createHarness()
    for (let n = 0; n <= 1_000; n++) observe(`http://n${n}.corp/`, responseWith(200), 0, 'private')
    expect(observe('http://n0.corp/', unresolved, 1, 'unresolved')).toBe('public')
    expect(observe('http://n1.corp/', unresolved, 1, 'unresolved')).toBe('private')
  })

  it('ignores blocked addresses, and faults of this process and of the proxy', () => {
    const { observe, outages } = createHarness()
    const blocked: Observation = { kind: 'no_response', failure: 'blocked_address', detail: '' }
    const fault: Observation = { kind: 'own_fault', detail: 'the proxy cannot be reached' }
    for (let origin = 0; origin < 9; origin++) {
      expect(observe(url(origin), blocked, origin, 'unresolved')).toBeUndefined()
      expect(observe(url(origin), fault, origin, 'public')).toBeUndefined()
      expect(observe(url(origin), fault, origin)).toBeUndefined()
      expect(observe(url(origin), { kind: 'cancelled' }, origin, 'unresolved')).toBeUndefined()
    }
    expect(outages(9)).toEqual([])
  })
})
