export type { SwitchSource } from '../source/switch-source.js'
