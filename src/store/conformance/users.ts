import assert from 'node:assert/strict'
import { newAccount, newApiKey, newUser } from './fixtures.js'
import { codeOf, type Promised, type Workbench } from './workbench.js'

async function newTenant(bench: Workbench) {
  const account = newAccount()
  await bench.store.accounts.insert(account, newApiKey(account.id), [])
  return account.id
}

export function userPromises(promised: Promised): void {
  promised('a user is put, read, replaced by id and removed', async (bench) => {
    const accountId = await newTenant(bench)
    const user = newUser(accountId)
    await bench.store.accounts.putUser(user)
    assert.deepEqual(await bench.store.accounts.user(accountId, user.id), user)
    const renamed = {
      ...user,
      username: 'other',
      credentialKeys: ['new-md5', 'new-sha1'],
      credentialVersion: 'v2',
    }
    await bench.store.accounts.putUser(renamed)
    assert.deepEqual(await bench.store.accounts.users(accountId), [renamed])
    assert.equal(await bench.store.accounts.removeUser(accountId, user.id), true)
    assert.equal(await bench.store.accounts.user(accountId, user.id), undefined)
    assert.equal(await bench.store.accounts.removeUser(accountId, user.id), false)
  })

  promised('users are listed by user name', async (bench) => {
    const accountId = await newTenant(bench)
    for (const username of ['carol', 'alice', 'bob']) {
      await bench.store.accounts.putUser(newUser(accountId, { username }))
    }
    const names = (await bench.store.accounts.users(accountId)).map((user) => user.username)
    assert.deepEqual(names, ['alice', 'bob', 'carol'])
    assert.deepEqual(await bench.store.accounts.users('nobody'), [])
  })

  promised('a user name is taken when it is equal in lower case, in the same account only', async (bench) => {
    const [one, two] = [await newTenant(bench), await newTenant(bench)]
    await bench.store.accounts.putUser(newUser(one, { username: 'Alice' }))
    const taken = newUser(one, { username: 'aLICE' })
    await assert.rejects(bench.store.accounts.putUser(taken), { code: 'Conflict', field: 'username' })
    assert.equal(await bench.store.accounts.user(one, taken.id), undefined)
    await bench.store.accounts.putUser(newUser(two, { username: 'alice' }))
  })

  promised('a user keeps its own name, and a name left behind is free', async (bench) => {
    const accountId = await newTenant(bench)
    const user = newUser(accountId, { username: 'alice' })
    await bench.store.accounts.putUser(user)
    await bench.store.accounts.putUser({ ...user, username: 'Alice' })
    await bench.store.accounts.putUser({ ...user, username: 'bob' })
    await bench.store.accounts.putUser(newUser(accountId, { username: 'alice' }))
  })

  promised('a user of an unknown account is refused', async (bench) => {
    assert.equal(await codeOf(bench.store.accounts.putUser(newUser('nobody'))), 'NotFound')
  })

  promised('a user is found by any of its credential keys, in the accounts asked for only', async (bench) => {
    const [one, two] = [await newTenant(bench), await newTenant(bench)]
    const user = newUser(one, { credentialKeys: ['md5', 'sha1', 'md5-lower'] })
    await bench.store.accounts.putUser(user)
    await bench.store.accounts.putUser(newUser(one))
    assert.deepEqual(await bench.store.accounts.userByCredential([two, one], ['nothing', 'sha1']), user)
    assert.deepEqual(await bench.store.accounts.userByCredential([one], ['md5-lower']), user)
    assert.equal(await bench.store.accounts.userByCredential([two], ['sha1']), undefined)
    assert.equal(await bench.store.accounts.userByCredential([one], ['nothing']), undefined)
    assert.equal(await bench.store.accounts.userByCredential([], ['sha1']), undefined)
  })

  promised('an old credential key finds nobody', async (bench) => {
    const accountId = await newTenant(bench)
    const user = newUser(accountId, { credentialKeys: ['old'] })
    await bench.store.accounts.putUser(user)
    await bench.store.accounts.putUser({ ...user, credentialKeys: ['new'] })
    assert.equal(await bench.store.accounts.userByCredential([accountId], ['old']), undefined)
    assert.equal((await bench.store.accounts.userByCredential([accountId], ['new']))?.id, user.id)
    await bench.store.accounts.removeUser(accountId, user.id)
    assert.equal(await bench.store.accounts.userByCredential([accountId], ['new']), undefined)
  })

  promised('two accounts with one and the same credential are told apart', async (bench) => {
    const [one, two] = [await newTenant(bench), await newTenant(bench)]
    const users = [newUser(one, { credentialKeys: ['same'] }), newUser(two, { credentialKeys: ['same'] })]
    for (const user of users) await bench.store.accounts.putUser(user)
    assert.deepEqual(await bench.store.accounts.userByCredential([two], ['same']), users[1])
    await bench.store.accounts.removeUser(two, users[1]!.id)
    assert.deepEqual(await bench.store.accounts.userByCredential([one, two], ['same']), users[0])
  })

  promised('one account cannot read or remove the user of another', async (bench) => {
    const [one, two] = [await newTenant(bench), await newTenant(bench)]
    const user = newUser(one)
    await bench.store.accounts.putUser(user)
    assert.equal(await bench.store.accounts.user(two, user.id), undefined)
    assert.equal(await bench.store.accounts.removeUser(two, user.id), false)
    assert.deepEqual(await bench.store.accounts.user(one, user.id), user)
  })
}
