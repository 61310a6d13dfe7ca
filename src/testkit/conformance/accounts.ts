import assert from 'node:assert/strict'
import type { Account } from '../../accounts/account.js'
import { type DefineRule, errorCodeOf, idsOf, readPages, valuesOf } from './fixture.js'
import { freshId, newAccount, newApiKey, newUser, WALL_MS } from './sample-data.js'

const REMOVAL = { nowMs: WALL_MS } as const

/** The field of the error with which a promise rejects; `undefined` if it resolves. */
function errorFieldOf(promise: Promise<unknown>): Promise<string | undefined> {
  return promise.then(
    () => undefined,
    (thrown: { readonly code?: string; readonly field?: string }) => {
      assert.equal(thrown.code, 'Conflict')
      return thrown.field
    },
  )
}

/** Rules of accounts and API keys. */
export function accountRules(rule: DefineRule): void {
  rule('an account is inserted with its API key and users', async (fixture) => {
    const { accounts } = fixture.store
    const account = newAccount({
      parentId: 'somebody',
      resellerId: 'reseller',
      isReseller: true,
      language: 'de-de',
    })
    const key = newApiKey(account.id)
    const user = newUser(account.id)
    await accounts.insert(account, key, [user])
    assert.deepEqual(await accounts.lineage(account.id), [account])
    assert.deepEqual(await accounts.apiKey(account.id), key)
    assert.deepEqual(await accounts.users(account.id), [user])
  })

  for (const field of ['id', 'realm'] as const) {
    rule(`inserting a taken ${field} rejects with Conflict, names it and writes nothing`, async (fixture) => {
      const { accounts } = fixture.store
      const account = await fixture.account()
      const again = newAccount({ [field]: account[field] })
      const [key, user] = [newApiKey(again.id), newUser(again.id)]
      await assert.rejects(accounts.insert(again, key, [user]), { code: 'Conflict', field })
      assert.deepEqual(await accounts.lineage(again.id), field === 'id' ? [account] : [])
      assert.deepEqual(await accounts.users(again.id), [])
      assert.equal(await accounts.apiKeyByHash(key.hash), undefined)
      assert.equal(await accounts.userByCredential([again.id], user.credentialKeys), undefined)
    })
  }

  rule('of two concurrent inserts of one realm, one succeeds', async (fixture) => {
    const { accounts } = fixture.store
    const both = [newAccount({ realm: 'same.example.com' }), newAccount({ realm: 'same.example.com' })]
    const codes = await Promise.all(
      both.map((account) => errorCodeOf(accounts.insert(account, newApiKey(account.id), []))),
    )
    assert.deepEqual([...codes].sort(), ['Conflict', undefined])
    assert.equal((await accounts.byRealm('same.example.com')).length, 1)
  })

  rule('of accounts inserted at the same time, only the refused ones are missing', async (fixture) => {
    const { accounts } = fixture.store
    const [parent, removed] = [await fixture.account(), await fixture.account()]
    await accounts.remove(removed.id, REMOVAL)
    const taken = newApiKey(parent.id)
    await accounts.putApiKey(taken)
    const fresh = Array.from({ length: 5 }, () => newAccount({ parentId: parent.id }))
    const user = newUser(fresh[0]!.id)
    const insert = (
      account: ReturnType<typeof newAccount>,
      { key = newApiKey(account.id), users = [] as (typeof user)[] } = {},
    ) => errorFieldOf(accounts.insert(account, key, users))
    const sameKey = newApiKey(fresh[4]!.id)
    const twice = newAccount()
    const fields = await Promise.all([
      insert(fresh[0]!, { users: [user] }),
      insert(newAccount({ id: parent.id })),
      insert(fresh[1]!),
      insert(newAccount({ id: removed.id })),
      insert(newAccount({ realm: parent.realm })),
      insert(twice, { key: { ...taken, accountId: twice.id } }),
      insert(fresh[2]!, { users: [newUser(fresh[2]!.id), newUser(fresh[2]!.id)] }),
      insert(fresh[3]!, {
        users: [newUser(fresh[3]!.id, { username: 'Eve' }), newUser(fresh[3]!.id, { username: 'eve' })],
      }),
      insert(fresh[4]!, { key: sameKey }),
    ])
    assert.deepEqual(fields, [
      undefined,
      'id',
      undefined,
      'id',
      'realm',
      'apiKey',
      undefined,
      'username',
      undefined,
    ])
    const stored = [fresh[0]!, fresh[1]!, fresh[2]!, fresh[4]!]
    assert.deepEqual(new Set(await accounts.descendants(parent.id)), new Set(idsOf(stored)))
    const lists = await Promise.all(
      [fresh[1]!.id, fresh[2]!.id, 'nobody', fresh[0]!.id, fresh[2]!.id].map((id) => accounts.users(id)),
    )
    assert.deepEqual(valuesOf(lists, 'length'), [0, 2, 0, 1, 2])
    assert.deepEqual(lists[3], [user])
    assert.deepEqual(lists[1], lists[4])
    assert.deepEqual(await accounts.userByCredential([user.accountId], user.credentialKeys), user)
    assert.deepEqual(await accounts.apiKeyByHash(sameKey.hash), sameKey)
    assert.deepEqual(await accounts.apiKeyByHash(taken.hash), taken)
    assert.equal(await accounts.apiKey(twice.id), undefined)
  })

  rule('an update replaces the row and is visible in every lookup', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    const parent = await fixture.account()
    const changed = {
      ...account,
      name: 'New name',
      realm: 'new.example.com',
      parentId: parent.id,
      enabled: false,
    }
    await accounts.update(changed)
    assert.deepEqual(await accounts.lineage(account.id), [changed, parent])
    assert.deepEqual(await accounts.byRealm('new.example.com'), [changed])
    assert.deepEqual(await accounts.byRealm(account.realm), [])
    assert.deepEqual(await accounts.byName('newname'), [changed])
    assert.deepEqual(await accounts.descendants(parent.id), [account.id])
    await accounts.update(account)
    assert.deepEqual(await accounts.descendants(parent.id), [])
  })

  rule('an update to a taken realm is a Conflict, one of an unknown account NotFound', async (fixture) => {
    const { accounts } = fixture.store
    const [first, second] = [await fixture.account(), await fixture.account()]
    await assert.rejects(accounts.update({ ...second, realm: first.realm }), {
      code: 'Conflict',
      field: 'realm',
    })
    assert.deepEqual(await accounts.lineage(second.id), [second])
    assert.equal(await errorCodeOf(accounts.update(newAccount())), 'NotFound')
  })

  rule('only an account without children is removed, with its API key and users', async (fixture) => {
    const { accounts } = fixture.store
    const parent = newAccount()
    const key = newApiKey(parent.id)
    const user = newUser(parent.id)
    await accounts.insert(parent, key, [user])
    const child = await fixture.account({ parentId: parent.id })
    assert.equal(await errorCodeOf(accounts.remove(parent.id, REMOVAL)), 'Conflict')
    assert.deepEqual(idsOf(await accounts.lineage(child.id)), [child.id, parent.id])
    await accounts.remove(child.id, REMOVAL)
    await accounts.remove(parent.id, REMOVAL)
    assert.deepEqual(await accounts.lineage(parent.id), [])
    assert.equal(await accounts.apiKeyByHash(key.hash), undefined)
    assert.equal(await accounts.userByCredential([parent.id], user.credentialKeys), undefined)
    assert.equal(await errorCodeOf(accounts.remove(parent.id, REMOVAL)), 'NotFound')
    await fixture.account({ realm: parent.realm })
  })

  rule('a lineage is the account followed by its ancestors up to the root', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account()
    const middle = await fixture.account({ parentId: root.id })
    const leaf = await fixture.account({ parentId: middle.id })
    assert.deepEqual(await accounts.lineage(leaf.id), [leaf, middle, root])
    assert.deepEqual(await accounts.lineage(root.id), [root])
    assert.deepEqual(await accounts.lineage('nobody'), [])
  })

  rule('concurrent queries return the lineage of their own account', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account()
    const leaves = []
    for (let made = 0; made < 3; made++) leaves.push(await fixture.account({ parentId: root.id }))
    const accountIds = [...leaves.map(({ id }) => id), 'nobody', root.id, leaves[0]!.id]
    assert.deepEqual(await Promise.all(accountIds.map((accountId) => accounts.lineage(accountId))), [
      ...leaves.map((leaf) => [leaf, root]),
      [],
      [root],
      [leaves[0], root],
    ])
  })

  rule('a returned lineage may be modified without affecting later queries', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account()
    const leaf = await fixture.account({ parentId: root.id })
    const given = (await accounts.lineage(leaf.id)) as (typeof leaf)[]
    Object.assign(given[0]!, { name: 'changed', enabled: !leaf.enabled })
    given.pop()
    assert.deepEqual(await accounts.lineage(leaf.id), [leaf, root])
  })

  rule('descendants are all accounts below an account, without the account itself', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account()
    const left = await fixture.account({ parentId: root.id })
    const right = await fixture.account({ parentId: root.id })
    const leaf = await fixture.account({ parentId: left.id })
    await fixture.account()
    assert.deepEqual([...(await accounts.descendants(root.id))].sort(), [left.id, right.id, leaf.id].sort())
    assert.deepEqual(await accounts.descendants(leaf.id), [])
    assert.deepEqual(await accounts.descendants('nobody'), [])
  })

  rule('lineage and descendants terminate in a cycle of parents', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    const two = await fixture.account({ parentId: account.id })
    await accounts.update({ ...account, parentId: two.id })
    assert.deepEqual(idsOf(await accounts.lineage(account.id)), [account.id, two.id])
    assert.deepEqual(await accounts.descendants(account.id), [two.id])
  })

  rule('all accounts of a name are found by the name key', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account({ name: 'Parent Telecom' })
    const two = await fixture.account({ name: 'parent-telecom' })
    await fixture.account({ name: 'Parent Telecom 2' })
    assert.deepEqual(idsOf(await accounts.byName('parenttelecom')).sort(), [account.id, two.id].sort())
    assert.deepEqual(await accounts.byName('nobody'), [])
  })

  rule('an account is found by its realm, also after an update that keeps it', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    assert.deepEqual(await accounts.byRealm(account.realm), [account])
    assert.deepEqual(await accounts.byRealm('unknown.example.com'), [])
    await accounts.update({ ...account, name: 'Other' })
    assert.deepEqual(await accounts.byRealm(account.realm), [{ ...account, name: 'Other' }])
  })

  rule('accounts are listed in order of id', async (fixture) => {
    const { accounts } = fixture.store
    for (const id of ['b', 'c', 'a', 'B'])
      await fixture.account({ id, realm: `${id.charCodeAt(0)}.example.com` })
    assert.deepEqual(idsOf(await accounts.list()), ['B', 'a', 'b', 'c'])
  })

  rule('an API key is found by its hash, and its replacement invalidates the old one', async (fixture) => {
    const { accounts } = fixture.store
    const account = newAccount()
    const [first, second] = [newApiKey(account.id), newApiKey(account.id)]
    await accounts.insert(account, first, [])
    assert.deepEqual(await accounts.apiKeyByHash(first.hash), first)
    await accounts.putApiKey(second)
    assert.equal(await accounts.apiKeyByHash(first.hash), undefined)
    assert.deepEqual(await accounts.apiKeyByHash(second.hash), second)
    assert.deepEqual(await accounts.apiKey(account.id), second)
    assert.equal(await accounts.apiKey('nobody'), undefined)
  })

  rule('removing an account deletes its webhooks and cancels their deliveries', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    const other = await fixture.account()
    const webhook = await fixture.webhook({ accountId: account.id })
    const kept = await fixture.webhook({ accountId: other.id })
    const [delivery] = await fixture.accept(webhook)
    const [keptDelivery] = await fixture.accept(kept)
    assert.deepEqual(await accounts.remove(account.id, REMOVAL), [webhook.id])
    assert.equal(await fixture.store.webhooks.read(account.id, webhook.id), undefined)
    assert.deepEqual(idsOf(await fixture.store.webhooks.list([account.id, other.id])), [kept.id])
    assert.equal(await fixture.state(webhook, delivery!.id), 'cancelled')
    assert.equal(await fixture.state(kept, keptDelivery!.id), 'waiting')
    const { webhooks } = await fixture.node.load()
    assert.deepEqual([webhooks.get(webhook.id)?.epoch, webhooks.get(kept.id)?.epoch], [2, 1])
  })

  rule('a removed account is remembered, and its id cannot be reused', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    assert.equal(await accounts.wasRemoved(account.id), false)
    await accounts.remove(account.id, REMOVAL)
    assert.equal(await accounts.wasRemoved(account.id), true)
    assert.equal(await accounts.wasRemoved('nobody'), false)
    assert.equal(await errorCodeOf(fixture.account({ id: account.id })), 'Conflict')
    assert.deepEqual(await accounts.lineage(account.id), [])
  })

  rule('a change or removal with an expected revision rejects any other revision', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    const next = { ...account, revision: 2, name: 'Next' }
    await assert.rejects(accounts.update(next, { revision: 2 }), { code: 'RevisionConflict' })
    assert.deepEqual(await accounts.lineage(account.id), [account])
    await accounts.update(next, { revision: 1 })
    await assert.rejects(accounts.update(next, { revision: 1 }), { code: 'RevisionConflict' })
    await assert.rejects(accounts.remove(account.id, { ...REMOVAL, revision: 1 }), {
      code: 'RevisionConflict',
    })
    assert.deepEqual(await accounts.lineage(account.id), [next])
    await accounts.remove(account.id, { ...REMOVAL, revision: 2 })
    assert.deepEqual(await accounts.lineage(account.id), [])
  })

  rule('of two concurrent changes of one revision, one succeeds', async (fixture) => {
    const { accounts } = fixture.store
    const account = await fixture.account()
    const change = (name: string) => accounts.update({ ...account, revision: 2, name }, { revision: 1 })
    const codes = await Promise.all([errorCodeOf(change('One')), errorCodeOf(change('Two'))])
    assert.deepEqual([...codes].sort(), ['RevisionConflict', undefined])
  })

  rule('a name is unique where it is required, by its letters and digits', async (fixture) => {
    const { accounts } = fixture.store
    const uniqueName = true
    const put = (overrides: Parameters<typeof newAccount>[0]) => {
      const account = newAccount(overrides)
      return accounts.insert(account, newApiKey(account.id), [], { uniqueName })
    }
    const birch = await fixture.account({ name: 'Birch Dental' })
    await assert.rejects(put({ name: 'birch-dental!' }), { code: 'Conflict', field: 'name' })
    await accounts.update({ ...birch, enabled: false }, { uniqueName })
    const other = await fixture.account({ name: 'Other' })
    const rename = accounts.update({ ...other, name: 'BIRCH dental' }, { uniqueName })
    await assert.rejects(rename, { code: 'Conflict', field: 'name' })
    assert.deepEqual(await accounts.byName('birchdental'), [{ ...birch, enabled: false }])
    await put({ name: '---' })
    await put({ name: '***' })
    const codes = await Promise.all([errorCodeOf(put({ name: 'Same' })), errorCodeOf(put({ name: 'same' }))])
    assert.deepEqual([...codes].sort(), ['Conflict', undefined])
  })

  rule('an account is not inserted below an unknown one where the parent is required', async (fixture) => {
    const { accounts } = fixture.store
    const account = newAccount({ parentId: 'nobody' })
    const insert = accounts.insert(account, newApiKey(account.id), [], { requireParent: true })
    await assert.rejects(insert, { code: 'NotFound' })
    assert.deepEqual(await accounts.lineage(account.id), [])
  })

  rule('an acyclic update below the account itself rejects with Conflict', async (fixture) => {
    const { accounts } = fixture.store
    const [top, other] = [await fixture.account(), await fixture.account()]
    const middle = await fixture.account({ parentId: top.id })
    const leaf = await fixture.account({ parentId: middle.id })
    for (const parentId of [top.id, middle.id, leaf.id]) {
      const update = accounts.update({ ...top, parentId }, { acyclic: true })
      await assert.rejects(update, { code: 'Conflict', field: 'parentId' })
    }
    assert.deepEqual(await accounts.lineage(leaf.id), [leaf, middle, top])
    const moved = { ...top, parentId: other.id }
    await accounts.update(moved, { acyclic: true })
    assert.deepEqual(await accounts.lineage(leaf.id), [leaf, middle, moved, other])
  })

  rule('of concurrent acyclic updates that would close a circle, one is refused', async (fixture) => {
    const { accounts } = fixture.store
    for (const count of [2, 3]) {
      const circle: ReturnType<typeof newAccount>[] = []
      for (let made = 0; made < count; made++) circle.push(await fixture.account())
      const codes = await Promise.all(
        circle.map((account, index) => {
          const parentId = circle[(index + 1) % count]!.id
          return errorCodeOf(accounts.update({ ...account, parentId }, { acyclic: true }))
        }),
      )
      assert.deepEqual(codes.filter(Boolean), ['Conflict'])
      const lineages = await Promise.all(circle.map(({ id }) => accounts.lineage(id)))
      assert.equal(lineages.filter((lineage) => lineage.at(-1)?.parentId === undefined).length, count)
    }
  })

  rule('a maximum depth counts the accounts above and below the one that is written', async (fixture) => {
    const { accounts } = fixture.store
    const chain = [await fixture.account()]
    for (let made = 0; made < 2; made++) {
      chain.push(await fixture.account({ parentId: chain.at(-1)!.id }))
    }
    const top = await fixture.account()
    const middle = await fixture.account({ parentId: top.id })
    for (let made = 0; made < 2; made++) await fixture.account({ parentId: middle.id })
    const below = { ...top, parentId: chain[1]!.id }
    await assert.rejects(accounts.update(below, { maxDepth: 4 }), { code: 'Conflict', field: 'depth' })
    assert.deepEqual(await accounts.lineage(top.id), [top])
    await accounts.update(below, { maxDepth: 5 })
    const insert = (parentId: string, maxDepth: number) => {
      const account = newAccount({ parentId })
      return accounts.insert(account, newApiKey(account.id), [], { maxDepth })
    }
    await assert.rejects(insert(middle.id, 4), { code: 'Conflict', field: 'depth' })
    await insert(middle.id, 5)
    await insert(chain[2]!.id, 4)
  })

  rule('of an update and an insert that would be too deep together, one is refused', async (fixture) => {
    const { accounts } = fixture.store
    const [root, moved] = [await fixture.account(), await fixture.account()]
    const leaf = newAccount({ parentId: moved.id })
    const codes = await Promise.all([
      errorCodeOf(accounts.update({ ...moved, parentId: root.id }, { maxDepth: 2 })),
      errorCodeOf(accounts.insert(leaf, newApiKey(leaf.id), [], { maxDepth: 2 })),
    ])
    assert.deepEqual(codes.filter(Boolean), ['Conflict'])
  })

  rule('pages of accounts are in order of name, then id, forwards and backwards', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account({ name: 'Root' })
    const below = async (parentId: string, name: string) => {
      const id = freshId('account')
      return fixture.account({ id, name, parentId })
    }
    const names = ['b', 'a', 'a', 'B', '\u{1F600}', '\uffe6']
    const children = []
    for (const name of names) children.push(await below(root.id, name))
    const [b, a1, a2, upper, astral, wide] = idsOf(children)
    const leaf = await below(b!, 'aa')
    await fixture.account({ name: 'aaa' })
    const sorted = [upper, ...[a1!, a2!].sort(), b, wide, astral]
    const all = { ascending: true, limit: 100 }
    assert.deepEqual(idsOf(await accounts.accountPage({ ...all, childrenOf: root.id })), sorted)
    const backwards = { childrenOf: root.id, ascending: false, limit: 100 }
    assert.deepEqual(idsOf(await accounts.accountPage(backwards)), [...sorted].reverse())
    const below1 = [upper, ...[a1!, a2!].sort(), leaf.id, b, wide, astral]
    assert.deepEqual(idsOf(await accounts.accountPage({ ...all, descendantsOf: root.id })), below1)
    assert.equal((await accounts.accountPage(all)).length, names.length + 3)
    for (const ascending of [true, false]) {
      for (const scope of [{ childrenOf: root.id }, { descendantsOf: root.id }, {}]) {
        const whole = await accounts.accountPage({ ...scope, ascending, limit: 100 })
        const paged = await readPages<Account>((last, limit) =>
          accounts.accountPage({
            ...scope,
            ascending,
            limit,
            ...(last && { after: [last.name, last.id] as const }),
          }),
        )
        assert.deepEqual(paged, whole)
      }
    }
    assert.deepEqual(await accounts.accountPage({ ...all, childrenOf: 'nobody' }), [])
  })

  rule('a page may be restricted to a prefix of name, realm or id', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account({ name: 'Birch root' })
    const account = await fixture.account({
      id: 'id-one',
      name: 'Birch Dental',
      realm: 'birch-one.example',
      parentId: root.id,
    })
    const two = await fixture.account({
      id: 'id-two',
      name: '100% b_rch',
      realm: 'b.irch_two.example',
      parentId: account.id,
    })
    const found = async (of: 'name' | 'realm' | 'id', text: string) =>
      idsOf(
        await accounts.accountPage({
          descendantsOf: root.id,
          prefix: { of, text },
          ascending: true,
          limit: 10,
        }),
      )
    assert.deepEqual(await found('name', 'birchd'), [account.id])
    assert.deepEqual(await found('name', '100b'), [two.id])
    assert.deepEqual(await found('name', 'b_'), [])
    assert.deepEqual(await found('realm', 'birch'), [two.id, account.id])
    assert.deepEqual(await found('realm', 'birchone'), [account.id])
    assert.deepEqual(await found('id', 'id-t'), [two.id])
    assert.deepEqual(await found('id', 'id%'), [])
  })

  rule('descendants are counted up to a maximum', async (fixture) => {
    const { accounts } = fixture.store
    const root = await fixture.account()
    const middle = await fixture.account({ parentId: root.id })
    for (let made = 0; made < 3; made++) await fixture.account({ parentId: middle.id })
    assert.deepEqual(await accounts.countDescendants([root.id, 'nobody', middle.id], 1_000), [4, 0, 3])
    assert.deepEqual(await accounts.countDescendants([root.id], 2), [2])
    assert.deepEqual(await accounts.countDescendants([], 2), [])
  })
}
