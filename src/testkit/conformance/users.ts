import assert from 'node:assert/strict'
import { type DefineRule, errorCodeOf, idsOf } from './fixture.js'
import { newUser } from './sample-data.js'

/** Rules of users and their credentials. */
export function userRules(rule: DefineRule): void {
  rule('a user is inserted, read, replaced by id and removed', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const user = newUser(accountId)
    await accounts.putUser(user)
    assert.deepEqual(await accounts.user(accountId, user.id), user)
    const renamed = {
      ...user,
      username: 'other',
      credentialKeys: ['new-md5', 'new-sha1'],
      credentialVersion: 'v2',
    }
    await accounts.putUser(renamed)
    assert.deepEqual(await accounts.users(accountId), [renamed])
    assert.equal(await accounts.removeUser(accountId, user.id), true)
    assert.equal(await accounts.user(accountId, user.id), undefined)
    assert.equal(await accounts.removeUser(accountId, user.id), false)
  })

  rule('users are listed in order of username', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    for (const username of ['carol', 'alice', 'bob']) {
      await accounts.putUser(newUser(accountId, { username }))
    }
    const names = (await accounts.users(accountId)).map((user) => user.username)
    assert.deepEqual(names, ['alice', 'bob', 'carol'])
    assert.deepEqual(await accounts.users('nobody'), [])
  })

  rule('usernames are unique per account, ignoring case', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    await accounts.putUser(newUser(first, { username: 'Alice' }))
    const taken = newUser(first, { username: 'aLICE' })
    await assert.rejects(accounts.putUser(taken), { code: 'Conflict', field: 'username' })
    assert.equal(await accounts.user(first, taken.id), undefined)
    await accounts.putUser(newUser(second, { username: 'alice' }))
  })

  rule('a user may keep or change its name, and its old name becomes free', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const user = newUser(accountId, { username: 'alice' })
    await accounts.putUser(user)
    await accounts.putUser({ ...user, username: 'Alice' })
    await accounts.putUser({ ...user, username: 'bob' })
    await accounts.putUser(newUser(accountId, { username: 'alice' }))
  })

  rule('a user of an unknown account is rejected with NotFound', async (fixture) => {
    const { accounts } = fixture.store
    assert.equal(await errorCodeOf(accounts.putUser(newUser('nobody'))), 'NotFound')
  })

  rule('a user is found by any of its credential keys, only in the given accounts', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    const user = newUser(first, { credentialKeys: ['md5', 'sha1', 'md5-lower'] })
    await accounts.putUser(user)
    await accounts.putUser(newUser(first))
    assert.deepEqual(await accounts.userByCredential([second, first], ['nothing', 'sha1']), user)
    assert.deepEqual(await accounts.userByCredential([first], ['md5-lower']), user)
    assert.equal(await accounts.userByCredential([second], ['sha1']), undefined)
    assert.equal(await accounts.userByCredential([first], ['nothing']), undefined)
    assert.equal(await accounts.userByCredential([], ['sha1']), undefined)
  })

  rule('a replaced credential key finds no user', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const user = newUser(accountId, { credentialKeys: ['old'] })
    await accounts.putUser(user)
    const changed = { ...user, credentialKeys: ['new'], listedKeys: ['old'] }
    await accounts.putUser(changed)
    assert.deepEqual(await accounts.user(accountId, user.id), changed)
    assert.equal(await accounts.userByCredential([accountId], ['old']), undefined)
    assert.equal((await accounts.userByCredential([accountId], ['new']))?.id, user.id)
    await accounts.removeUser(accountId, user.id)
    assert.equal(await accounts.userByCredential([accountId], ['new']), undefined)
  })

  rule('users of two accounts may share a credential key', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    const users = [
      newUser(first, { credentialKeys: ['same'] }),
      newUser(second, { credentialKeys: ['same'] }),
    ]
    for (const user of users) await accounts.putUser(user)
    assert.deepEqual(await accounts.userByCredential([second], ['same']), users[1])
    await accounts.removeUser(second, users[1]!.id)
    assert.deepEqual(await accounts.userByCredential([first, second], ['same']), users[0])
  })

  rule('an account cannot read or remove a user of another account', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    const user = newUser(first)
    await accounts.putUser(user)
    assert.equal(await accounts.user(second, user.id), undefined)
    assert.equal(await accounts.removeUser(second, user.id), false)
    assert.deepEqual(await accounts.user(first, user.id), user)
  })

  rule('a user may have no name, and several users may', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const nameless = () => {
      const { username: _, ...user } = newUser(accountId, { credentialKeys: [] })
      return user
    }
    const [first, second] = [nameless(), nameless()]
    await accounts.putUser(first)
    await accounts.putUser(second)
    assert.deepEqual(await accounts.user(accountId, first.id), first)
    assert.equal((await accounts.users(accountId)).length, 2)
    await accounts.putUser({ ...first, username: 'named' })
    assert.equal((await accounts.userByName(accountId, 'NAMED'))?.id, first.id)
    await accounts.putUser(first)
    assert.equal(await accounts.userByName(accountId, 'named'), undefined)
  })

  rule('a user is found by its name, in any case', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    const user = newUser(first, { username: 'Alice' })
    await accounts.putUser(user)
    assert.deepEqual(await accounts.userByName(first, 'aLICE'), user)
    assert.equal(await accounts.userByName(second, 'alice'), undefined)
  })

  rule('a change or removal of a user may expect a revision, and rejects others', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const user = newUser(accountId)
    await assert.rejects(accounts.putUser(user, { revision: 1 }), { code: 'NotFound' })
    await accounts.putUser(user)
    const next = { ...user, revision: 2, email: 'a@b' }
    await assert.rejects(accounts.putUser(next, { revision: 2 }), { code: 'RevisionConflict' })
    await accounts.putUser(next, { revision: 1 })
    await assert.rejects(accounts.removeUser(accountId, user.id, { revision: 1 }), {
      code: 'RevisionConflict',
    })
    assert.deepEqual(await accounts.user(accountId, user.id), next)
    assert.equal(await accounts.removeUser(accountId, user.id, { revision: 2 }), true)
  })

  rule('the id of a removed user is not given to a new one', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [(await fixture.account()).id, (await fixture.account()).id]
    const user = newUser(first)
    await accounts.putUser(user, { isNew: true })
    await assert.rejects(accounts.putUser(user, { isNew: true }), { code: 'Conflict', field: 'id' })
    await accounts.removeUser(first, user.id)
    await assert.rejects(accounts.putUser(user, { isNew: true }), { code: 'Conflict', field: 'id' })
    await accounts.putUser({ ...user, accountId: second }, { isNew: true })
    // The host may restore a user.
    await accounts.putUser(user)
  })

  rule('pages of users are in order of last name, first name and id', async (fixture) => {
    const { accounts } = fixture.store
    const { id: accountId } = await fixture.account()
    const named = async (firstName: string, lastName: string) => {
      const user = newUser(accountId, { firstName, lastName })
      await accounts.putUser(user)
      return user.id
    }
    const ada = await named('Ada', 'Birch')
    const zoe = await named('Zoe', 'Birch')
    const bob = await named('Bob', 'Ash')
    const host = newUser(accountId, { username: 'Host-made' })
    await accounts.putUser(host)
    const sorted = [host.id, bob, ada, zoe]
    const page = (query: { ascending: boolean; limit: number; after?: readonly [string, string] }) =>
      accounts.userPage(accountId, query)
    assert.deepEqual(idsOf(await page({ ascending: true, limit: 9 })), sorted)
    assert.deepEqual(idsOf(await page({ ascending: false, limit: 9 })), [...sorted].reverse())
    assert.deepEqual(idsOf(await page({ ascending: true, limit: 2 })), [host.id, bob])
    const after = ['Ash Bob', bob] as const
    assert.deepEqual(idsOf(await page({ ascending: true, limit: 9, after })), [ada, zoe])
    assert.deepEqual(idsOf(await page({ ascending: false, limit: 9, after })), [host.id])
    const afterHost = ['- Host-made', host.id] as const
    assert.deepEqual(idsOf(await page({ ascending: true, limit: 1, after: afterHost })), [bob])
    assert.deepEqual(await accounts.userPage('nobody', { ascending: true, limit: 9 }), [])
  })
}
