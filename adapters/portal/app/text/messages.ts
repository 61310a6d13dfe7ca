/** The keys of the page's texts. Type only. */
import type en from '../locales/en.json'

type English = keyof typeof en
type Plural<Key> = Key extends `${infer Base}_other` ? Base : never

/** A key of `locales/en.json`; of a text with plural forms, the part before `_one` and `_other`. */
export type MessageKey = English | Plural<English>
