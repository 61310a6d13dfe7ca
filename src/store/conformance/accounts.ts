import assert from 'node:assert/strict'
import { newAccount, newApiKey, newUser } from './fixtures.js'
import { codeOf, ids, type Promised, type Workbench } from './workbench.js'

async function inserted(bench: Workbench, overrides?: Parameters<typeof newAccount>[0]) {
  const account = newAccount(overrides)
  await bench.store.accounts.insert(account, newApiKey(account.id), [])
  return account
}

export function accountPromises(promised: Promised): void {
  promised('an account is inserted with its key and its users', async (bench) => {
    const account = newAccount({
      parentId: 'somebody',
      resellerId: 'reseller',
      isReseller: true,
      language: 'de-de',
    })
    const key = newApiKey(account.id)
    const user = newUser(account.id)
    await bench.store.accounts.insert(account, key, [user])
    assert.deepEqual(await bench.store.accounts.lineage(account.id), [account])
    assert.deepEqual(await bench.store.accounts.apiKey(account.id), key)
    assert.deepEqual(await bench.store.accounts.users(account.id), [user])
  })

  promised('a taken id is a conflict that names the field, and nothing is written', async (bench) => {
    const account = await inserted(bench)
    const again = newAccount({ id: account.id })
    const insert = bench.store.accounts.insert(again, newApiKey(again.id), [newUser(again.id)])
    await assert.rejects(insert, { code: 'Conflict', field: 'id' })
    assert.deepEqual(await bench.store.accounts.lineage(account.id), [account])
    assert.deepEqual(await bench.store.accounts.users(account.id), [])
  })

  promised('a taken realm is a conflict that names the field, and nothing is written', async (bench) => {
    const account = await inserted(bench)
    const second = newAccount({ realm: account.realm })
    const user = newUser(second.id)
    const insert = bench.store.accounts.insert(second, newApiKey(second.id), [user])
    await assert.rejects(insert, { code: 'Conflict', field: 'realm' })
    assert.deepEqual(await bench.store.accounts.lineage(second.id), [])
    assert.equal(await bench.store.accounts.apiKey(second.id), undefined)
    assert.equal(await bench.store.accounts.userByCredential([second.id], user.credentialKeys), undefined)
  })

  promised('of two inserts of one realm at once, one wins', async (bench) => {
    const both = [newAccount({ realm: 'same.example.com' }), newAccount({ realm: 'same.example.com' })]
    const codes = await Promise.all(
      both.map((account) => codeOf(bench.store.accounts.insert(account, newApiKey(account.id), []))),
    )
    assert.deepEqual([...codes].sort(), ['Conflict', undefined])
    assert.equal((await bench.store.accounts.byRealm('same.example.com')).length, 1)
  })

  promised('an update replaces the row, and look-ups follow it', async (bench) => {
    const account = await inserted(bench)
    const parent = await inserted(bench)
    const changed = {
      ...account,
      name: 'New name',
      realm: 'new.example.com',
      parentId: parent.id,
      enabled: false,
    }
    await bench.store.accounts.update(changed)
    assert.deepEqual(await bench.store.accounts.lineage(account.id), [changed, parent])
    assert.deepEqual(await bench.store.accounts.byRealm('new.example.com'), [changed])
    assert.deepEqual(await bench.store.accounts.byRealm(account.realm), [])
    assert.deepEqual(await bench.store.accounts.byName('newname'), [changed])
    assert.deepEqual(await bench.store.accounts.descendants(parent.id), [account.id])
    await bench.store.accounts.update(account)
    assert.deepEqual(await bench.store.accounts.descendants(parent.id), [])
  })

  promised(
    'an update to a taken realm is a conflict, one of an unknown account is not found',
    async (bench) => {
      const [one, two] = [await inserted(bench), await inserted(bench)]
      await assert.rejects(bench.store.accounts.update({ ...two, realm: one.realm }), {
        code: 'Conflict',
        field: 'realm',
      })
      assert.deepEqual(await bench.store.accounts.lineage(two.id), [two])
      assert.equal(await codeOf(bench.store.accounts.update(newAccount())), 'NotFound')
    },
  )

  promised('an account keeps its own realm in an update', async (bench) => {
    const account = await inserted(bench)
    await bench.store.accounts.update({ ...account, name: 'Other' })
    assert.equal((await bench.store.accounts.byRealm(account.realm))[0]?.name, 'Other')
  })

  promised(
    'an account with children cannot be removed; without them it goes with its key and users',
    async (bench) => {
      const parent = newAccount()
      const key = newApiKey(parent.id)
      const user = newUser(parent.id)
      await bench.store.accounts.insert(parent, key, [user])
      const child = await inserted(bench, { parentId: parent.id })
      assert.equal(await codeOf(bench.store.accounts.remove(parent.id)), 'Conflict')
      assert.deepEqual(ids(await bench.store.accounts.lineage(child.id)), [child.id, parent.id])
      await bench.store.accounts.remove(child.id)
      await bench.store.accounts.remove(parent.id)
      assert.deepEqual(await bench.store.accounts.lineage(parent.id), [])
      assert.equal(await bench.store.accounts.apiKeyByHash(key.hash), undefined)
      assert.equal(await bench.store.accounts.userByCredential([parent.id], user.credentialKeys), undefined)
      assert.equal(await codeOf(bench.store.accounts.remove(parent.id)), 'NotFound')
      await inserted(bench, { realm: parent.realm })
    },
  )

  promised('the id of an account that was removed is never given again', async (bench) => {
    const account = await inserted(bench)
    await bench.store.accounts.remove(account.id)
    const successor = newAccount({ id: account.id })
    assert.equal(await codeOf(bench.store.accounts.insert(successor, newApiKey(account.id), [])), 'Conflict')
    assert.deepEqual(await bench.store.accounts.lineage(account.id), [])
  })

  promised('a lineage is the account, then its ancestors up to the root', async (bench) => {
    const root = await inserted(bench)
    const middle = await inserted(bench, { parentId: root.id })
    const leaf = await inserted(bench, { parentId: middle.id })
    assert.deepEqual(await bench.store.accounts.lineage(leaf.id), [leaf, middle, root])
    assert.deepEqual(await bench.store.accounts.lineage(root.id), [root])
    assert.deepEqual(await bench.store.accounts.lineage('nobody'), [])
  })

  promised('lineages that are asked for at once are each their own', async (bench) => {
    const root = await inserted(bench)
    const leaves = []
    for (let made = 0; made < 3; made++) leaves.push(await inserted(bench, { parentId: root.id }))
    const asked = [...leaves.map(({ id }) => id), 'nobody', root.id, leaves[0]!.id]
    assert.deepEqual(await Promise.all(asked.map((accountId) => bench.store.accounts.lineage(accountId))), [
      ...leaves.map((leaf) => [leaf, root]),
      [],
      [root],
      [leaves[0], root],
    ])
  })

  promised('a lineage belongs to who asked for it: what is done to it shows nowhere else', async (bench) => {
    const root = await inserted(bench)
    const leaf = await inserted(bench, { parentId: root.id })
    const given = (await bench.store.accounts.lineage(leaf.id)) as (typeof leaf)[]
    Object.assign(given[0]!, { name: 'changed', enabled: !leaf.enabled })
    given.pop()
    assert.deepEqual(await bench.store.accounts.lineage(leaf.id), [leaf, root])
  })

  promised('a lineage shows what has changed above', async (bench) => {
    const root = await inserted(bench)
    const other = await inserted(bench)
    const middle = await inserted(bench, { parentId: root.id })
    const leaf = await inserted(bench, { parentId: middle.id })
    assert.deepEqual(ids(await bench.store.accounts.lineage(leaf.id)), [leaf.id, middle.id, root.id])
    await bench.store.accounts.update({ ...middle, parentId: other.id })
    assert.deepEqual(ids(await bench.store.accounts.lineage(leaf.id)), [leaf.id, middle.id, other.id])
  })

  promised('descendants are all accounts below, without the account itself', async (bench) => {
    const root = await inserted(bench)
    const left = await inserted(bench, { parentId: root.id })
    const right = await inserted(bench, { parentId: root.id })
    const leaf = await inserted(bench, { parentId: left.id })
    await inserted(bench)
    assert.deepEqual(
      [...(await bench.store.accounts.descendants(root.id))].sort(),
      [left.id, right.id, leaf.id].sort(),
    )
    assert.deepEqual(await bench.store.accounts.descendants(leaf.id), [])
    assert.deepEqual(await bench.store.accounts.descendants('nobody'), [])
  })

  promised('a cycle of parents ends lineage and descendants', async (bench) => {
    const one = await inserted(bench)
    const two = await inserted(bench, { parentId: one.id })
    await bench.store.accounts.update({ ...one, parentId: two.id })
    assert.deepEqual(ids(await bench.store.accounts.lineage(one.id)), [one.id, two.id])
    assert.deepEqual(await bench.store.accounts.descendants(one.id), [two.id])
  })

  promised('all accounts of a name are found by its key', async (bench) => {
    const one = await inserted(bench, { name: 'Parent Telecom' })
    const two = await inserted(bench, { name: 'parent-telecom' })
    await inserted(bench, { name: 'Parent Telecom 2' })
    assert.deepEqual(ids(await bench.store.accounts.byName('parenttelecom')).sort(), [one.id, two.id].sort())
    assert.deepEqual(await bench.store.accounts.byName('nobody'), [])
  })

  promised('a realm is found by its key', async (bench) => {
    const account = await inserted(bench)
    assert.deepEqual(await bench.store.accounts.byRealm(account.realm), [account])
    assert.deepEqual(await bench.store.accounts.byRealm('unknown.example.com'), [])
  })

  promised('all accounts are listed by id', async (bench) => {
    for (const id of ['b', 'c', 'a', 'B'])
      await inserted(bench, { id, realm: `${id.charCodeAt(0)}.example.com` })
    assert.deepEqual(ids(await bench.store.accounts.list()), ['B', 'a', 'b', 'c'])
  })

  promised('a key is found by its hash, and replacing it kills the old one', async (bench) => {
    const account = newAccount()
    const [first, second] = [newApiKey(account.id), newApiKey(account.id)]
    await bench.store.accounts.insert(account, first, [])
    assert.deepEqual(await bench.store.accounts.apiKeyByHash(first.hash), first)
    await bench.store.accounts.putApiKey(second)
    assert.equal(await bench.store.accounts.apiKeyByHash(first.hash), undefined)
    assert.deepEqual(await bench.store.accounts.apiKeyByHash(second.hash), second)
    assert.deepEqual(await bench.store.accounts.apiKey(account.id), second)
    assert.equal(await bench.store.accounts.apiKey('nobody'), undefined)
  })
}
