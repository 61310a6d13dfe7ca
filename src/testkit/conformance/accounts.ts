import assert from 'node:assert/strict'
import { type DefineRule, errorCodeOf, type Fixture, idsOf } from './fixture.js'
import { newAccount, newApiKey, newUser } from './sample-data.js'

async function insertAccount(fixture: Fixture, overrides?: Parameters<typeof newAccount>[0]) {
  const account = newAccount(overrides)
  await fixture.store.accounts.insert(account, newApiKey(account.id), [])
  return account
}

/** Rules of accounts and API keys. */
export function accountRules(rule: DefineRule): void {
  rule('an account is inserted with its API key and users', async (fixture) => {
    const account = newAccount({
      parentId: 'somebody',
      resellerId: 'reseller',
      isReseller: true,
      language: 'de-de',
    })
    const key = newApiKey(account.id)
    const user = newUser(account.id)
    await fixture.store.accounts.insert(account, key, [user])
    assert.deepEqual(await fixture.store.accounts.lineage(account.id), [account])
    assert.deepEqual(await fixture.store.accounts.apiKey(account.id), key)
    assert.deepEqual(await fixture.store.accounts.users(account.id), [user])
  })

  rule('inserting a taken id rejects with Conflict, names the field and writes nothing', async (fixture) => {
    const account = await insertAccount(fixture)
    const again = newAccount({ id: account.id })
    const insert = fixture.store.accounts.insert(again, newApiKey(again.id), [newUser(again.id)])
    await assert.rejects(insert, { code: 'Conflict', field: 'id' })
    assert.deepEqual(await fixture.store.accounts.lineage(account.id), [account])
    assert.deepEqual(await fixture.store.accounts.users(account.id), [])
  })

  rule(
    'inserting a taken realm rejects with Conflict, names the field and writes nothing',
    async (fixture) => {
      const account = await insertAccount(fixture)
      const second = newAccount({ realm: account.realm })
      const user = newUser(second.id)
      const insert = fixture.store.accounts.insert(second, newApiKey(second.id), [user])
      await assert.rejects(insert, { code: 'Conflict', field: 'realm' })
      assert.deepEqual(await fixture.store.accounts.lineage(second.id), [])
      assert.equal(await fixture.store.accounts.apiKey(second.id), undefined)
      assert.equal(await fixture.store.accounts.userByCredential([second.id], user.credentialKeys), undefined)
    },
  )

  rule('of two concurrent inserts of one realm, one succeeds', async (fixture) => {
    const both = [newAccount({ realm: 'same.example.com' }), newAccount({ realm: 'same.example.com' })]
    const codes = await Promise.all(
      both.map((account) => errorCodeOf(fixture.store.accounts.insert(account, newApiKey(account.id), []))),
    )
    assert.deepEqual([...codes].sort(), ['Conflict', undefined])
    assert.equal((await fixture.store.accounts.byRealm('same.example.com')).length, 1)
  })

  rule('an update replaces the row and is visible in every lookup', async (fixture) => {
    const account = await insertAccount(fixture)
    const parent = await insertAccount(fixture)
    const changed = {
      ...account,
      name: 'New name',
      realm: 'new.example.com',
      parentId: parent.id,
      enabled: false,
    }
    await fixture.store.accounts.update(changed)
    assert.deepEqual(await fixture.store.accounts.lineage(account.id), [changed, parent])
    assert.deepEqual(await fixture.store.accounts.byRealm('new.example.com'), [changed])
    assert.deepEqual(await fixture.store.accounts.byRealm(account.realm), [])
    assert.deepEqual(await fixture.store.accounts.byName('newname'), [changed])
    assert.deepEqual(await fixture.store.accounts.descendants(parent.id), [account.id])
    await fixture.store.accounts.update(account)
    assert.deepEqual(await fixture.store.accounts.descendants(parent.id), [])
  })

  rule(
    'an update to a taken realm rejects with Conflict, one of an unknown account with NotFound',
    async (fixture) => {
      const [one, two] = [await insertAccount(fixture), await insertAccount(fixture)]
      await assert.rejects(fixture.store.accounts.update({ ...two, realm: one.realm }), {
        code: 'Conflict',
        field: 'realm',
      })
      assert.deepEqual(await fixture.store.accounts.lineage(two.id), [two])
      assert.equal(await errorCodeOf(fixture.store.accounts.update(newAccount())), 'NotFound')
    },
  )

  rule('an update may keep the realm', async (fixture) => {
    const account = await insertAccount(fixture)
    await fixture.store.accounts.update({ ...account, name: 'Other' })
    assert.equal((await fixture.store.accounts.byRealm(account.realm))[0]?.name, 'Other')
  })

  rule(
    'an account with children cannot be removed; one without is removed with its API key and users',
    async (fixture) => {
      const parent = newAccount()
      const key = newApiKey(parent.id)
      const user = newUser(parent.id)
      await fixture.store.accounts.insert(parent, key, [user])
      const child = await insertAccount(fixture, { parentId: parent.id })
      assert.equal(await errorCodeOf(fixture.store.accounts.remove(parent.id)), 'Conflict')
      assert.deepEqual(idsOf(await fixture.store.accounts.lineage(child.id)), [child.id, parent.id])
      await fixture.store.accounts.remove(child.id)
      await fixture.store.accounts.remove(parent.id)
      assert.deepEqual(await fixture.store.accounts.lineage(parent.id), [])
      assert.equal(await fixture.store.accounts.apiKeyByHash(key.hash), undefined)
      assert.equal(await fixture.store.accounts.userByCredential([parent.id], user.credentialKeys), undefined)
      assert.equal(await errorCodeOf(fixture.store.accounts.remove(parent.id)), 'NotFound')
      await insertAccount(fixture, { realm: parent.realm })
    },
  )

  rule('the id of a removed account cannot be reused', async (fixture) => {
    const account = await insertAccount(fixture)
    await fixture.store.accounts.remove(account.id)
    const successor = newAccount({ id: account.id })
    assert.equal(
      await errorCodeOf(fixture.store.accounts.insert(successor, newApiKey(account.id), [])),
      'Conflict',
    )
    assert.deepEqual(await fixture.store.accounts.lineage(account.id), [])
  })

  rule('a lineage is the account followed by its ancestors up to the root', async (fixture) => {
    const root = await insertAccount(fixture)
    const middle = await insertAccount(fixture, { parentId: root.id })
    const leaf = await insertAccount(fixture, { parentId: middle.id })
    assert.deepEqual(await fixture.store.accounts.lineage(leaf.id), [leaf, middle, root])
    assert.deepEqual(await fixture.store.accounts.lineage(root.id), [root])
    assert.deepEqual(await fixture.store.accounts.lineage('nobody'), [])
  })

  rule('concurrent queries return the lineage of their own account', async (fixture) => {
    const root = await insertAccount(fixture)
    const leaves = []
    for (let made = 0; made < 3; made++) leaves.push(await insertAccount(fixture, { parentId: root.id }))
    const accountIds = [...leaves.map(({ id }) => id), 'nobody', root.id, leaves[0]!.id]
    assert.deepEqual(
      await Promise.all(accountIds.map((accountId) => fixture.store.accounts.lineage(accountId))),
      [...leaves.map((leaf) => [leaf, root]), [], [root], [leaves[0], root]],
    )
  })

  rule('a returned lineage may be modified without affecting later queries', async (fixture) => {
    const root = await insertAccount(fixture)
    const leaf = await insertAccount(fixture, { parentId: root.id })
    const given = (await fixture.store.accounts.lineage(leaf.id)) as (typeof leaf)[]
    Object.assign(given[0]!, { name: 'changed', enabled: !leaf.enabled })
    given.pop()
    assert.deepEqual(await fixture.store.accounts.lineage(leaf.id), [leaf, root])
  })

  rule('a lineage reflects a change of an ancestor', async (fixture) => {
    const root = await insertAccount(fixture)
    const other = await insertAccount(fixture)
    const middle = await insertAccount(fixture, { parentId: root.id })
    const leaf = await insertAccount(fixture, { parentId: middle.id })
    assert.deepEqual(idsOf(await fixture.store.accounts.lineage(leaf.id)), [leaf.id, middle.id, root.id])
    await fixture.store.accounts.update({ ...middle, parentId: other.id })
    assert.deepEqual(idsOf(await fixture.store.accounts.lineage(leaf.id)), [leaf.id, middle.id, other.id])
  })

  rule('descendants are all accounts below an account, without the account itself', async (fixture) => {
    const root = await insertAccount(fixture)
    const left = await insertAccount(fixture, { parentId: root.id })
    const right = await insertAccount(fixture, { parentId: root.id })
    const leaf = await insertAccount(fixture, { parentId: left.id })
    await insertAccount(fixture)
    assert.deepEqual(
      [...(await fixture.store.accounts.descendants(root.id))].sort(),
      [left.id, right.id, leaf.id].sort(),
    )
    assert.deepEqual(await fixture.store.accounts.descendants(leaf.id), [])
    assert.deepEqual(await fixture.store.accounts.descendants('nobody'), [])
  })

  rule('lineage and descendants terminate in a cycle of parents', async (fixture) => {
    const one = await insertAccount(fixture)
    const two = await insertAccount(fixture, { parentId: one.id })
    await fixture.store.accounts.update({ ...one, parentId: two.id })
    assert.deepEqual(idsOf(await fixture.store.accounts.lineage(one.id)), [one.id, two.id])
    assert.deepEqual(await fixture.store.accounts.descendants(one.id), [two.id])
  })

  rule('all accounts of a name are found by the name key', async (fixture) => {
    const one = await insertAccount(fixture, { name: 'Parent Telecom' })
    const two = await insertAccount(fixture, { name: 'parent-telecom' })
    await insertAccount(fixture, { name: 'Parent Telecom 2' })
    assert.deepEqual(
      idsOf(await fixture.store.accounts.byName('parenttelecom')).sort(),
      [one.id, two.id].sort(),
    )
    assert.deepEqual(await fixture.store.accounts.byName('nobody'), [])
  })

  rule('an account is found by its realm', async (fixture) => {
    const account = await insertAccount(fixture)
    assert.deepEqual(await fixture.store.accounts.byRealm(account.realm), [account])
    assert.deepEqual(await fixture.store.accounts.byRealm('unknown.example.com'), [])
  })

  rule('accounts are listed in order of id', async (fixture) => {
    for (const id of ['b', 'c', 'a', 'B'])
      await insertAccount(fixture, { id, realm: `${id.charCodeAt(0)}.example.com` })
    assert.deepEqual(idsOf(await fixture.store.accounts.list()), ['B', 'a', 'b', 'c'])
  })

  rule('an API key is found by its hash, and its replacement invalidates the old one', async (fixture) => {
    const account = newAccount()
    const [first, second] = [newApiKey(account.id), newApiKey(account.id)]
    await fixture.store.accounts.insert(account, first, [])
    assert.deepEqual(await fixture.store.accounts.apiKeyByHash(first.hash), first)
    await fixture.store.accounts.putApiKey(second)
    assert.equal(await fixture.store.accounts.apiKeyByHash(first.hash), undefined)
    assert.deepEqual(await fixture.store.accounts.apiKeyByHash(second.hash), second)
    assert.deepEqual(await fixture.store.accounts.apiKey(account.id), second)
    assert.equal(await fixture.store.accounts.apiKey('nobody'), undefined)
  })
}
