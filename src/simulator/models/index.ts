export type { Fc, ModelFailure, ModelRuns, ModelTest } from './check.js'
export { type StoreModelOptions, storeModel } from './store-model.js'
