import { describe, expect, it } from 'vitest'
import type { Account } from '../../src/accounts/account.js'
import {
  changedAccount,
  checkAccount,
  mergeAccount,
  newAccountOf,
  replacementOf,
  resellerOf,
} from '../../src/accounts/account-document.js'

const account: Account = {
  id: 'a',
  name: 'Acme',
  realm: 'acme.example',
  parentId: 'p',
  enabled: true,
  language: 'de-de',
  isReseller: false,
  timezone: 'Europe/Berlin',
  flags: ['vip'],
  extra: { ui_flags: { tour: 1, color: 'red' } },
  createdMs: 1,
  modifiedMs: 1,
}
const parent: Account = { ...account, id: 'p', enabled: false, timezone: 'Etc/GMT+5', language: 'fr-fr' }

const rulesOf = (fields: Record<string, unknown>, before?: Account) =>
  checkAccount({ fields }, before).failures.map(({ path, rule }) => `${path} ${rule}`)

describe('the document of an account', () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{ name: 'A', realm: 'a.bc', timezone: 'inherit', language: 'en', flags: [], enabled: false }, []],
    [{}, ['name required']],
    [{ name: '' }, ['name minLength']],
    [{ name: '   ' }, ['name pattern']],
    [{ name: 'a\u0007' }, ['name pattern']],
    [{ name: 'x'.repeat(129) }, ['name maxLength']],
    [{ name: 5, enabled: 'yes', flags: [1] }, ['name type', 'enabled type', 'flags.0 type']],
    [{ name: 'A', realm: 'a/b.example' }, ['realm pattern']],
    [{ name: 'A', realm: 'abc' }, ['realm minLength']],
    [{ name: 'A', timezone: 'UTC' }, ['timezone minLength']],
    [{ name: 'A', language: 'english!' }, ['language pattern']],
  ])('%j breaks %j', (fields, expected) => {
    expect(rulesOf(fields).sort()).toEqual([...expected].sort())
  })

  it('has its realm without spaces, in lower case', () => {
    expect(checkAccount({ fields: { name: 'A', realm: ' SIP Acme.Example ' } }).checked.fields.realm).toBe(
      'sipacme.example',
    )
  })

  it('accepts an unchanged realm that the host made wider', () => {
    const wide = { ...account, realm: 'acme:5060' }
    expect(rulesOf({ name: 'A', realm: 'acme:5060' }, wide)).toEqual([])
    expect(rulesOf({ name: 'A', realm: 'acme:5061' }, wide)).toEqual(['realm pattern'])
  })

  it('is limited in size and depth', () => {
    const failuresOf = (extra: Record<string, unknown>) =>
      checkAccount({ fields: { name: 'A' }, extra }).failures.map(({ rule }) => rule)
    expect(failuresOf({ a: 'x'.repeat(65_000) })).toEqual([])
    expect(failuresOf({ a: 'x'.repeat(65_600) })).toEqual(['maxSize'])
    let deep: unknown = 1
    for (let level = 0; level < 40; level += 1) deep = { deep }
    expect(failuresOf({ deep })).toEqual(['error'])
  })

  it('gets what it leaves out from its parent', () => {
    const checked = { fields: { name: 'New', timezone: 'inherit' }, extra: {} }
    const context = { id: 'n', parent, generatedRealm: 'x.invalid', defaultTimezone: 'Etc/UTC', nowMs: 9 }
    expect(newAccountOf(checked, context)).toEqual({
      id: 'n',
      name: 'New',
      realm: 'x.invalid',
      parentId: 'p',
      enabled: false,
      language: 'fr-fr',
      isReseller: false,
      timezone: 'Etc/GMT+5',
      createdMs: 9,
      modifiedMs: 9,
      revision: 1,
    })
    const enabled = { fields: { name: 'New', enabled: true }, extra: {} }
    expect(newAccountOf(enabled, context).enabled).toBe(true)
  })

  it('that replaces another keeps realm, time zone, language and state, and nothing else', () => {
    const { checked } = checkAccount(replacementOf(account, { fields: { name: 'B' } }), account)
    const options = { mayEnable: true, parentTimezone: 'Etc/UTC', nowMs: 9 }
    const { flags: _, extra: __, ...kept } = account
    expect(changedAccount(account, checked, options)).toEqual({
      ...kept,
      name: 'B',
      modifiedMs: 9,
      revision: 2,
    })
  })

  it('is merged at every depth; null removes, except what must not be absent', () => {
    const patch = {
      fields: { flags: null, enabled: null, language: null },
      extra: { ui_flags: { tour: null } },
    }
    const { document, failures } = mergeAccount(account, patch)
    expect(failures).toEqual([])
    expect(document).toEqual({
      fields: {
        name: 'Acme',
        realm: 'acme.example',
        enabled: true,
        timezone: 'Europe/Berlin',
        language: 'de-de',
      },
      extra: { ui_flags: { color: 'red' } },
    })
    expect(mergeAccount(account, { fields: { realm: null } }).failures).toMatchObject([
      { path: 'realm', rule: 'required' },
    ])
  })

  it('changes its state only where it may', () => {
    const checked = { fields: { name: 'Acme', enabled: false }, extra: {} }
    const options = { parentTimezone: 'Etc/UTC', nowMs: 9 }
    expect(changedAccount(account, checked, { ...options, mayEnable: false }).enabled).toBe(true)
    expect(changedAccount(account, checked, { ...options, mayEnable: true }).enabled).toBe(false)
  })

  it('names the nearest reseller above, else the root', () => {
    const root = { ...parent, id: 'root' }
    expect(resellerOf([account, parent, root])).toBe('root')
    expect(resellerOf([account, { ...parent, isReseller: true }, root])).toBe('p')
    expect(resellerOf([{ ...account, resellerId: 'given' }, root])).toBe('given')
    expect(resellerOf([root])).toBeUndefined()
  })
})
