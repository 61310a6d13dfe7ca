import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type User, userNameKey } from '../../../src/accounts/user.js'
import { AccountUsers } from '../../../src/store/memory/account-users.js'
import { newUser } from '../../../src/testkit/conformance/sample-data.js'
import { propertyRuns } from '../../support/property-runs.js'

const IDS = Array.from({ length: 14 }, (_, nth) => `u${nth}`)
const userOf = (id: string, version: number): User =>
  newUser('account', {
    id,
    username: `Name-${id}-${version}`,
    credentialKeys: [`${id}-md5-${version}`, `${id}-sha`],
  })

it('users of an account are found by id, name and credential, whether they are few or many', () => {
  const steps = fc.array(fc.record({ id: fc.constantFrom(...IDS), isAdded: fc.boolean() }), { maxLength: 60 })
  fc.assert(
    fc.property(steps, (changes) => {
      const first = userOf('first', 0)
      const users = new AccountUsers(first)
      const model = new Map([[first.id, first]])
      changes.forEach(({ id, isAdded }, version) => {
        const before = model.get(id)
        if (before) users.remove(before)
        model.delete(id)
        if (!isAdded) return
        const user = userOf(id, version)
        users.add(user)
        model.set(id, user)
      })
      expect(users.size).toBe(model.size)
      expect(new Set(users.all())).toEqual(new Set(model.values()))
      for (const user of model.values()) {
        expect(users.byId(user.id)).toBe(user)
        expect(users.byName(userNameKey(user))).toBe(user)
        for (const key of user.credentialKeys) expect(users.byCredential(key)).toBe(user)
      }
      for (const id of IDS.filter((id) => !model.has(id))) {
        expect(users.byId(id)).toBeUndefined()
        expect(users.byCredential(`${id}-sha`)).toBeUndefined()
      }
      changes.forEach(({ id }, version) => {
        const user = userOf(id, version)
        if (model.get(id)?.username === user.username) return
        expect(users.byName(userNameKey(user))).toBeUndefined()
        expect(users.byCredential(`${id}-md5-${version}`)).toBeUndefined()
      })
    }),
    { numRuns: propertyRuns(200) },
  )
})
