import { readFile } from 'node:fs/promises'
import { accountByDomain, accountDomain, kamailioMapper, kamailioSource } from 'hookswitch/kamailio'
import { describe, expect, it } from 'vitest'
import { recordedLines } from './recorded.js'

describe('the account of a call', () => {
  const call = recordedLines.filter((l) => l.includes('k01-caller-hangup-1"'))

  it('is the dialog variable rather than the domain of From', () => {
    const domains: unknown[] = []
    const mapper = kamailioMapper({
      accountOf: (line) => {
        domains.push(accountDomain(line))
        return undefined
      },
    })
    mapper.map(call[0] ?? '')
    mapper.map((call[2] ?? '').replace('"var_account":"alpha.example"', '"var_account":"Other.example"'))
    expect(domains).toEqual(['alpha.example', 'other.example'])
  })

  it('may become known later: the create is buffered and keeps its time', () => {
    const mapper = kamailioMapper({ accountOf: (line) => (line.dialog ? 'late' : undefined) })
    expect(mapper.map(call[0] ?? '').events).toEqual([])
    const [create, ...none] = mapper.map(call[1] ?? '').events
    expect(create).toMatchObject({ hook: 'channel_create', accountId: 'late', timestampMs: 1795173566483 })
    expect(none).toEqual([])
  })

  it('never changes during a call', () => {
    let calls = 0
    const mapper = kamailioMapper({ accountOf: () => `account-${++calls}` })
    const events = call.flatMap((line) => mapper.map(line).events)
    expect(new Set(events.map((event) => event.accountId))).toEqual(new Set(['account-1']))
  })

  it('that stays unknown is reported once, and no event of the call is published', () => {
    const mapper = kamailioMapper({ accountOf: accountByDomain({ 'beta.example': 'beta' }) })
    const mapped = call.map((line) => mapper.map(line))
    expect(mapped.flatMap((m) => m.events)).toEqual([])
    expect(mapped.flatMap((m) => m.problems)).toMatchObject([
      { kind: 'unknown_account', callId: 'k01-caller-hangup-1' },
    ])
    expect(mapper.openCalls()).toBe(0)
  })
})

describe('options', () => {
  it('are rejected by name', () => {
    const make = (options: object) => () => kamailioMapper(options as never)
    expect(make({})).toThrow(/accountOf/)
    expect(make({ accountOf: () => 'a', maxOpenCalls: 0 })).toThrow(/maxOpenCalls/)
    expect(make({ accountOf: () => 'a', account: 'b' })).toThrow(
      /^kamailioMapper\(\): unknown option 'account'/,
    )
  })
  it('of a source are rejected by name, and a token is never shown', () => {
    const publish = async () => {}
    const make = (options: object) => () =>
      kamailioSource({ publish, accountOf: () => 'a', ...options } as never)
    expect(() => kamailioSource({ accountOf: () => 'a' } as never)).toThrow(/publish is missing/)
    expect(() => kamailioSource({ publish } as never)).toThrow(/accountOf is missing/)
    expect(make({ host: '127.0.0.1' })).not.toThrow()
    expect(make({ port: 8448 })).toThrow(/host is missing: port needs it/)
    expect(make({ host: '127.0.0.1', port: 0 })).toThrow(/port must be a whole number from 1/)
    expect(make({ maxCallMs: 999 })).toThrow(/maxCallMs must be a whole number from 1000/)
    expect(make({ connectTimeoutMs: 0 })).toThrow(/connectTimeoutMs must be/)
    expect(make({ acountOf: () => 'a' })).toThrow(/^kamailioSource\(\): unknown option 'acountOf'/)
    expect(make({ token: '' })).toThrow(/token must be a non-empty string of one line/)
    expect(make({ token: 'sesame\r\nopen' })).toThrow(/^token must be a non-empty string of one line$/)
    expect(make({})).not.toThrow()
  })
})

describe('the example configuration', () => {
  it('sends keep-alives to both phones, and does not mistake a session refresh for the end of a hold', async () => {
    const path = new URL('../../../examples/switches/kamailio.cfg', import.meta.url)
    const config = await readFile(path, 'utf8')
    expect(config).toContain('modparam("dialog", "ka_timer", 5)')
    expect(config).toMatch(/dlg_manage\(\);\s+dlg_set_property\("ka-src"\);\s+dlg_set_property\("ka-dst"\);/)
    expect(config).toMatch(/is_method\("INVITE"\) && has_body\("application\/sdp"\)/)
  })
})
