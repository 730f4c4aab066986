"""Molecular dynamics of jax-md: soft spheres and Lennard-Jones atoms in a periodic box, with neighbour lists, minimised and moved."""
# needs: jax-md

import jax
from jax_md import energy, minimize, quantity, simulate, space

n, size = 64, 5.5
displacement, shift = space.periodic(size)
start = size * jax.random.uniform(jax.random.key(0), (n, 2))
soft = energy.soft_sphere_pair(displacement, sigma=0.7)
init, descend = minimize.fire_descent(soft, shift)
state = jax.lax.fori_loop(0, 30, lambda _, s: jax.jit(descend)(s), init(start))
print("soft spheres", float(soft(start)), float(soft(state.position)))

neighbours, lennard_jones = energy.lennard_jones_neighbor_list(displacement, size, sigma=0.6, r_onset=1.0, r_cutoff=1.3, dr_threshold=0.3)
found = neighbours.allocate(state.position)
init, move = simulate.nvt_nose_hoover(lennard_jones, shift, 1e-3, kT=0.3)
atoms = init(jax.random.key(1), state.position, neighbor=found)


@jax.jit
def steps(atoms, found):
    def step(_, both):
        atoms, found = both
        found = found.update(atoms.position)
        return move(atoms, neighbor=found), found

    return jax.lax.fori_loop(0, 20, step, (atoms, found))


atoms, found = steps(atoms, found)
print("atoms", float(lennard_jones(atoms.position, neighbor=found)), float(quantity.temperature(momentum=atoms.momentum)), int(found.did_buffer_overflow))
