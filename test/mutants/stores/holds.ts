import { faultsOf, type StoreFault } from './store-fault.js'

const fault = faultsOf('holds', 'holds')

/** Defects of the holds port. */
export const brokenHolds: readonly StoreFault[] = [
  fault('what is held is listed in the order in which it was held', (store) => {
    const order: string[] = []
    return {
      list: async () => order,
      async put(scope) {
        if (!order.includes(scope)) order.push(scope)
        return store.put(scope)
      },
    }
  }),
  fault('a release of what is not held says that it was', (store) => ({
    remove: (scope) => store.remove(scope).then(() => true),
  })),
  fault('a hold of what is held says that it was not', (store) => ({
    put: (scope) => store.put(scope).then(() => true),
  })),
  fault('a hold of all accounts replaces the others', (store) => ({
    async list() {
      const scopes = await store.list()
      return scopes.includes('*') ? ['*'] : scopes
    },
  })),
]
