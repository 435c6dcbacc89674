// Fisher–Yates with a number generator of the lab's, so that an order is the same wherever the seed is.
/** Puts the items into a random order, in place. */
export function shuffle(items, random) {
    for (let i = items.length - 1; i > 0; i--) {
        const j = Math.floor(random() * (i + 1));
        const held = items[i];
        items[i] = items[j];
        items[j] = held;
    }
    return items;
}
