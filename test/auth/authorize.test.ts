import { describe, expect, it } from 'vitest'
import { authorize } from '../../src/auth/authorize.js'
import { authNode, authWorld, codeOf } from './auth-world.js'

describe('authority', () => {
  it('is over the account itself and those below, and the refusal is the same for all others', async () => {
    const world = await authWorld()
    const acme = { accountId: 'acme' }
    await authorize(world, acme, 'acme')
    await authorize(world, acme, 'sub')
    const refusals = await Promise.all(
      ['other', 'missing', 'not an id', '', '../acme'].map((id) =>
        authorize(world, acme, id).catch((thrown: Error) => ({ ...thrown, message: thrown.message })),
      ),
    )
    for (const refusal of refusals) expect(refusal).toEqual(refusals[0])
    expect(refusals[0]).toMatchObject({ code: 'Forbidden', message: 'forbidden' })
    expect(await codeOf(authorize(world, { accountId: 'sub' }, 'acme'))).toBe('Forbidden')
  })

  it('follows a move in the tree, and a new account, at once', async () => {
    const world = await authWorld()
    const acme = { accountId: 'acme' }
    expect(await codeOf(authorize(world, acme, 'sub'))).toBe('resolved')
    await world.accounts.update('sub', { parentId: 'other' })
    expect(await codeOf(authorize(world, acme, 'sub'))).toBe('Forbidden')
    expect(await codeOf(authorize(world, acme, 'new'))).toBe('Forbidden')
    await world.accounts.create({ id: 'new', name: 'New', realm: 'new.test', parentId: 'acme' })
    expect(await codeOf(authorize(world, acme, 'new'))).toBe('resolved')
    expect(await world.accounts.descendants('acme')).toEqual(['new'])
    await world.accounts.ensure([{ id: 'new', name: 'New', realm: 'new.test', parentId: 'other' }])
    expect(await codeOf(authorize(world, acme, 'new'))).toBe('Forbidden')
  })

  it('is over a new account also for who asks while an older question about it is open', async () => {
    const world = await authWorld()
    let answer = () => {}
    const open = new Promise<void>((resolve) => {
      answer = resolve
    })
    const late = {
      ...world.directory,
      lineage: async (id: string) => {
        const lineage = await world.directory.lineage(id)
        if (lineage.length === 0) await open
        return lineage
      },
    }
    const node = authNode(world.stored, world.tokens, { directory: late })
    const before = codeOf(authorize(node, { accountId: 'acme' }, 'new'))
    await node.accounts.create({ id: 'new', name: 'New', realm: 'new.test', parentId: 'acme' })
    expect(await codeOf(authorize(node, { accountId: 'acme' }, 'new'))).toBe('resolved')
    answer()
    expect(await before).toBe('Forbidden')
  })

  it('follows a directory of the host within two seconds, or at once when the host says so', async () => {
    const world = await authWorld()
    const acme = { accountId: 'acme' }
    const move = async (parentId: string) => {
      const account = (await world.stored.accounts.lineage('sub'))[0]!
      await world.stored.accounts.update({ ...account, parentId })
    }
    expect(await codeOf(authorize(world, acme, 'sub'))).toBe('resolved')
    await move('other')
    await world.clock.advance(2_000)
    expect(await codeOf(authorize(world, acme, 'sub'))).toBe('Forbidden')
    await move('acme')
    world.accounts.changed('sub')
    expect(await codeOf(authorize(world, acme, 'sub'))).toBe('resolved')
  })
})
