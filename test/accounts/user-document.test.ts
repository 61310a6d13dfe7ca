import { describe, expect, it } from 'vitest'
import type { User } from '../../src/accounts/user.js'
import {
  checkUser,
  isOwnChangeAllowed,
  mergeUser,
  ownReplacement,
  rowFields,
} from '../../src/accounts/user-document.js'

const user: User = {
  id: 'u',
  accountId: 'a',
  username: 'Ada Lovelace',
  credentialKeys: ['key'],
  credentialVersion: '1',
  createdMs: 1,
  modifiedMs: 1,
}
const names = { firstName: 'Ada', lastName: 'Birch' }
const rulesOf = (fields: Record<string, unknown>, before?: User) =>
  checkUser({ fields }, before).failures.map(({ path, rule }) => `${path} ${rule}`)

describe('the document of a user', () => {
  it.each<[Record<string, unknown>, string[]]>([
    [{ ...names }, []],
    [{}, ['firstName required', 'lastName required']],
    [{ ...names, username: 'a b', password: 'p' }, ['username pattern']],
    [{ ...names, username: 'ada' }, ['password required']],
    [{ ...names, username: 'ada', password: '' }, ['password required']],
    [{ ...names, email: 'nobody' }, ['email wrong_format']],
    [{ ...names, email: 'a@b@c' }, ['email wrong_format']],
    [{ ...names, privLevel: 'root' }, ['privLevel enum']],
    [{ ...names, enabled: 'maybe', timezone: 'x'.repeat(65) }, ['enabled type', 'timezone maxLength']],
  ])('%j breaks %j', (fields, expected) => {
    expect(rulesOf(fields).sort()).toEqual([...expected].sort())
  })

  it('never shows a password in a failure', () => {
    const { failures } = checkUser({ fields: { ...names, username: 'ada', password: 'secret'.repeat(200) } })
    expect(failures).toMatchObject([{ path: 'password', rule: 'maxLength' }])
    expect(JSON.stringify(failures)).not.toContain('secret')
  })

  it.each<[string, Record<string, unknown>, User | undefined, string]>([
    ['a new name with a password', { username: 'ada', password: 'p' }, undefined, 'derive'],
    ['a new name without a password', { username: 'ada' }, undefined, 'needs_password'],
    ['another name with a password', { username: 'eve', password: 'p' }, user, 'derive'],
    ['another name without a password', { username: 'eve' }, user, 'needs_password'],
    ['the same name with a password', { username: 'ADA lovelace', password: 'p' }, user, 'derive'],
    ['the same name without a password', { username: 'ADA lovelace' }, user, 'keep'],
    ['no name with a password', { password: 'p' }, user, 'generate_username'],
    ['neither', {}, user, 'remove'],
  ])('%s: credentials', (_, fields, before, expected) => {
    expect(checkUser({ fields: { ...names, ...fields } }, before).credentials).toBe(expected)
  })

  it('accepts an unchanged user name that the host made wider', () => {
    expect(rulesOf({ ...names, username: 'ada lovelace' }, user)).toEqual([])
    expect(rulesOf({ ...names, username: 'ada other', password: 'p' }, user)).toEqual(['username pattern'])
  })

  it('makes a user without level or state an enabled user', () => {
    expect(rowFields(checkUser({ fields: names }).checked)).toEqual({
      ...names,
      enabled: true,
      privLevel: 'user',
    })
  })

  it('is merged; the level of a user of the host stays admin', () => {
    const { fields } = mergeUser(user, { fields: { password: 'new', email: 'a@b' } })
    expect(fields).toEqual({
      firstName: 'Ada Lovelace',
      lastName: '-',
      username: 'Ada Lovelace',
      privLevel: 'admin',
      password: 'new',
      email: 'a@b',
    })
  })

  it('of oneself keeps level, state and name', () => {
    const self: User = { ...user, privLevel: 'user' }
    expect(
      isOwnChangeAllowed(self, { fields: { ...names, privLevel: 'user', username: 'ADA LOVELACE' } }),
    ).toBe(true)
    for (const fields of [{ privLevel: 'admin' }, { enabled: false }, { username: 'x' }, { username: null }])
      expect(isOwnChangeAllowed(self, { fields })).toBe(false)
    expect(ownReplacement(self, { fields: names }).fields).toEqual({
      ...names,
      privLevel: 'user',
      enabled: true,
      username: 'Ada Lovelace',
    })
  })
})
