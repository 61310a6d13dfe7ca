/** A measure that this machine lacks something for: said in its row, and no failure. */
export class LeftOut extends Error {}
